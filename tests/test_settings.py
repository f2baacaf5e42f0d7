"""The settings in force: each line that keeps a run safe, and nothing that listens."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

IN_FORCE = {
    "DOWNLOAD_HANDLERS": {"file": None, "data": None, "ftp": None, "s3": None},
    "COOKIES_ENABLED": False,
    "METAREFRESH_ENABLED": False,
    "REFERER_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "HTTPCACHE_ENABLED": False,
    "DOWNLOAD_VERIFY_CERTIFICATES": True,
    "ROBOTSTXT_OBEY": True,
    "AUTOTHROTTLE_ENABLED": True,
    "REDIRECT_MAX_TIMES": 5,
    "RETRY_TIMES": 1,
    "DOWNLOAD_TIMEOUT": 60,
}


@pytest.fixture
def settings() -> Settings:
    settings = Settings()
    settings.setmodule("sitemap_discovery.settings", priority="project")
    return settings


@pytest.mark.parametrize(("name", "value"), IN_FORCE.items(), ids=IN_FORCE)
def test_what_keeps_a_run_safe_is_set(settings: Settings, name: str, value: object) -> None:
    assert settings[name] == value or dict(settings[name]) == value


@pytest.mark.parametrize(
    "name", ["DOWNLOADER_MIDDLEWARES", "EXTENSIONS", "ITEM_PIPELINES", "FEED_EXPORTERS"]
)
def test_every_component_named_is_there(settings: Settings, name: str) -> None:
    merged = settings.get_component_priority_dict_with_base(name)
    parts = dict(merged)
    paths = parts.values() if name == "FEED_EXPORTERS" else parts
    assert all(callable(load_object(path)) for path in paths)


def test_a_component_of_ones_own_takes_none_of_ours_away(settings: Settings) -> None:
    for name, ours in (("ITEM_PIPELINES", 3), ("EXTENSIONS", 2), ("DOWNLOADER_MIDDLEWARES", 6)):
        settings.set(name, {"json.JSONEncoder": 900}, priority="cmdline")
        merged = settings.get_component_priority_dict_with_base(name)
        assert sum(path.startswith("sitemap_discovery.") for path in merged) >= ours
        assert merged["json.JSONEncoder"] == 900


def test_nothing_listens_and_no_cookie_is_kept(settings: Settings) -> None:
    loaded = str(dict(settings.get_component_priority_dict_with_base("EXTENSIONS")))
    loaded += str(dict(settings.get_component_priority_dict_with_base("DOWNLOADER_MIDDLEWARES")))
    assert not any(name in loaded for name in ("Telnet", "RemoteControl", "Cookies", "MetaRefresh"))
