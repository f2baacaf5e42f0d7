"""Arguments: every written form is read, every wrong value is one line that helps."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from sitemap_discovery.spiders.arguments import (
    ArgumentError,
    Arguments,
    check_settings,
    parse_arguments,
    refuse_unknown,
)

NOW = 1_790_899_200  # 2026-10-02T00:00:00Z


@pytest.mark.parametrize(
    ("text", "roots"),
    [
        ("https://example.com", ["https://example.com"]),
        ("example.com", ["https://example.com"]),
        ("example.com, http://b.example:8080/", ["https://example.com", "http://b.example:8080"]),
        ("https://example.com/robots.txt", ["https://example.com"]),
        ("b\u00fccher.example", ["https://xn--bcher-kva.example"]),
        ("https://example.com,https://example.com/", ["https://example.com"]),
        ("[::1]:8080", ["https://[::1]:8080"]),
    ],
)
def test_origins_in_every_written_form(text: str, roots: list[str]) -> None:
    assert [origin.root for origin in parse_arguments({"origin": text}, NOW).origins] == roots


def test_a_sitemap_address_means_that_file_only() -> None:
    (origin,) = parse_arguments({"origin": "https://example.com/a/map.xml.gz?x=1"}, NOW).origins
    assert origin.sitemap == "https://example.com/a/map.xml.gz?x=1"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-10-01", NOW - 86_400),
        ("2026-10-01T23:00:00+00:00", NOW - 3_600),
        ("2026-10-02T01:00:00+02:00", NOW - 3_600),
        ("7d", NOW - 7 * 86_400),
        ("36h", NOW - 36 * 3_600),
        ("90m", NOW - 5_400),
    ],
)
def test_since_takes_dates_and_ages(text: str, seconds: int) -> None:
    assert parse_arguments({"since": text}, NOW).since == seconds


@pytest.mark.parametrize(
    ("name", "value", "help_"),
    [
        ("origin", "", "https://example.com"),
        ("origin", "ftp://example.com", "only http and https"),
        ("origin", "http://user:secret@example.com", "without user and password"),
        ("origin", "not a host", "not an address"),
        ("origins_file", "missing.txt", "No such file"),
        ("sitemap", "missing.xml", "no such file"),
        ("sitemap", "http://[::1", "not an address"),
        ("sitemap", "s" * 5_000, "no such file"),
        ("sitemap", "file://elsewhere/etc/hostname", "no such file"),
        ("sitemap", "\0", "no such file"),
        ("include", "(" * 5_000, "not a regular expression"),
        ("exclude", "a{99999999999}", "not a regular expression"),
        ("since", "yesterday", "W3C datetime or an age"),
        ("since", "-1d", "W3C datetime or an age"),
        ("undated", "maybe", "keep or drop"),
        ("emit", "some", "all or changes"),
        ("include", "(", "not a regular expression"),
        ("max_files", "0", "whole number from 1"),
        ("max_urls", "1e3", "whole number from 1"),
        ("max_depth", "-1", "whole number from 0"),
        ("max_seconds", "\u0661", "whole number from 1"),
    ],
)
def test_a_wrong_value_is_one_line_that_names_it(name: str, value: str, help_: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        parse_arguments({name: value}, NOW)
    message = str(caught.value)
    assert message.startswith(f"{name}={value!r}"[:150])
    assert len(message) < 500
    assert help_ in message
    assert "\n" not in message


def test_a_script_may_pass_values_that_are_no_strings(tmp_path: Path) -> None:
    path = tmp_path / "s.xml"
    path.write_bytes(b"")
    given = {"max_urls": 5, "origin": ["a.example", "b.example"], "sitemap": path}
    arguments = parse_arguments(given, NOW)
    assert (arguments.max_urls, len(arguments.origins), arguments.sitemap) == (5, 2, path)


@pytest.mark.parametrize(
    ("settings", "emit", "line"),
    [
        ({"SITEMAP_BATCH_SIZE": "abc"}, "all", "SITEMAP_BATCH_SIZE='abc': give a whole number"),
        ({"SITEMAP_MAX_DEPTH": -1}, "all", "SITEMAP_MAX_DEPTH='-1': give a whole number from 0"),
        ({"INVENTORY_ENABLED": "0"}, "changes", "emit='changes': nothing is known"),
    ],
)
def test_a_setting_that_is_wrong_is_one_line_too(
    settings: dict[str, Any], emit: str, line: str
) -> None:
    with pytest.raises(ArgumentError, match="^" + re.escape(line)):
        check_settings(Settings(settings), Arguments(emit=emit))


def test_an_origins_file_holds_one_a_line(tmp_path: Path) -> None:
    path = tmp_path / "origins.txt"
    path.write_text("# ours\nexample.com  # main\n\nhttp://b.example\n", encoding="utf-8")
    arguments = parse_arguments({"origins_file": str(path)}, NOW)
    assert [origin.root for origin in arguments.origins] == [
        "https://example.com", "http://b.example",
    ]  # fmt: skip


def test_a_bad_line_of_an_origins_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "origins.txt"
    path.write_text("example.com\nftp://b.example\n", encoding="utf-8")
    with pytest.raises(ArgumentError, match="origins_file line 2"):
        parse_arguments({"origins_file": str(path)}, NOW)


def test_a_local_sitemap_is_a_path(tmp_path: Path) -> None:
    path = tmp_path / "s.xml"
    path.write_bytes(b"")
    assert parse_arguments({"sitemap": str(path)}, NOW).sitemap == path
    assert parse_arguments({"sitemap": path.as_uri()}, NOW).sitemap == path


def test_a_mistyped_name_is_refused_and_scrapyds_own_are_not() -> None:
    refuse_unknown({"_job": "1", "origin": "x"})
    with pytest.raises(ArgumentError, match="no such argument; there are due_files, emit"):
        refuse_unknown({"orgin": "x"})
    with pytest.raises(ArgumentError, match="no such argument"):
        refuse_unknown({"name": "x"})
