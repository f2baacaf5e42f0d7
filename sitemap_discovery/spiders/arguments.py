"""The arguments of the spiders: strings from a command line or from Scrapyd, checked at once."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from w3lib.url import file_uri_to_path

from sitemap_discovery.protocol.dates import parse_lastmod
from sitemap_discovery.protocol.urls import Origin, is_robots, parse_origin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scrapy.settings import BaseSettings

AGE_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_SECONDS: Final = re.compile(r"[0-9]{1,9}(?:\.[0-9]{0,9})?", re.ASCII)
_AGE: Final = re.compile(r"([0-9]{1,6})([smhdw])")


class ArgumentError(ValueError):
    """A wrong argument; the message is one line: its name, its value and what is allowed."""

    def __init__(self, name: str, value: str, allowed: str) -> None:
        shown = value if len(value) <= 200 else value[:200] + "…"
        super().__init__(f"{name}={shown!r}: {allowed}")


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a run was asked to do. ``since`` is UTC epoch seconds, ``max_seconds`` seconds.

    ``None`` means not limited, not filtered. ``sitemap`` is a URL or a local path.
    """

    origin: tuple[Origin, ...] = ()
    origins_file: tuple[Origin, ...] = ()
    sitemap: str | Path | None = None
    since: int | None = None
    undated: str = "keep"
    emit: str = "all"
    include: re.Pattern[str] | None = None
    exclude: re.Pattern[str] | None = None
    follow: re.Pattern[str] | None = None
    max_files: int | None = None
    max_urls: int | None = None
    max_depth: int | None = None
    max_seconds: int | None = None
    due_files: bool = False

    @property
    def origins(self) -> tuple[Origin, ...]:
        """Every origin asked for, each once, in the order given."""
        return tuple(dict.fromkeys(self.origin + self.origins_file))


NAMES: Final = tuple(field.name for field in fields(Arguments))


WHOLE_SETTINGS: Final = {
    "SITEMAP_BATCH_SIZE": 1,
    "SITEMAP_MAX_BYTES": 1,
    "SITEMAP_MAX_FILES": 1,
    "SITEMAP_MAX_DEPTH": 0,
    "SITEMAP_RETRY_AFTER_MAX": 0,
    "INVENTORY_RECHECK_AFTER": 0,
    "INVENTORY_GONE_AFTER": 1,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "RETRY_TIMES": 0,
    "REDIRECT_MAX_TIMES": 0,
}
"""Settings that are whole numbers, and the least each may be."""

SECONDS_SETTINGS: Final = ("DOWNLOAD_DELAY", "DOWNLOAD_TIMEOUT", "AUTOTHROTTLE_START_DELAY")


def parse_arguments(values: Mapping[str, object], now: int) -> Arguments:
    """Check and convert the arguments; raise :class:`ArgumentError` at the first wrong one.

    Values that are no strings, as a script may pass them, are read as if written on a command
    line. ``now`` (UTC epoch seconds) is what ages such as ``since=7d`` are counted from.
    """
    readers = _readers(now)
    read: dict[str, Any] = {
        name: readers[name](name, as_text(value)) for name, value in values.items()
    }
    if "undated" in values and "since" not in values:
        raise ArgumentError("undated", read["undated"], "it needs since=")
    return Arguments(**read)


@dataclass(frozen=True, slots=True)
class PageArguments:
    """What a run over pages was asked to do. ``None`` means as the rules have it."""

    origin: Origin
    sample: int | None = None
    seed: int = 0
    due: bool = True
    limit: int | None = None
    max_pages: int | None = None


def parse_page_arguments(values: Mapping[str, object]) -> PageArguments:
    """Check and convert the arguments of a spider that fetches pages; raises
    :class:`ArgumentError` at the first wrong one."""
    readers: dict[str, Callable[[str, str], Any]] = {
        "origin": _one_origin,
        "sample": _count,
        "seed": _depth,
        "due": _flag,
        "limit": _count,
        "max_pages": _count,
    }
    if not values.get("origin"):
        raise ArgumentError("origin", "", "give origin=https://example.com")
    return PageArguments(
        **{name: readers[name](name, as_text(values[name])) for name in readers if name in values}
    )


def _one_origin(name: str, text: str) -> Origin:
    found = _origins(name, text)
    if len(found) > 1:
        raise ArgumentError(name, text, "give one origin a run")
    return found[0]


def parse_age(name: str, text: str, now: int) -> int:
    """The moment that lies an age such as ``7d`` before ``now`` (UTC epoch seconds); raises
    :class:`ArgumentError`."""
    age = _AGE.fullmatch(text.strip())
    if age is None:
        raise ArgumentError(name, text, "give an age (180d, 26w)")
    return now - int(age[1]) * AGE_SECONDS[age[2]]


def check_settings(settings: BaseSettings, arguments: Arguments | None = None) -> None:
    """Raise :class:`ArgumentError` for a setting of ours that is wrong or does not go with the
    arguments."""
    for name, least in WHOLE_SETTINGS.items():
        if settings.get(name) is not None:
            _whole(name, str(settings[name]), least=least)
    for name in SECONDS_SETTINGS:
        if not _SECONDS.fullmatch(str(settings.get(name, 0))):
            raise ArgumentError(name, str(settings[name]), "give seconds, such as 0.5")
    try:
        for host in settings.getlist("SITEMAP_ALLOWED_HOSTS"):
            urlsplit(f"//{host}").port  # noqa: B018 - asks whether it has one
    except ValueError:
        hosts = str(settings["SITEMAP_ALLOWED_HOSTS"])
        raise ArgumentError("SITEMAP_ALLOWED_HOSTS", hosts, "give hosts with commas") from None
    if arguments is None:
        return
    if arguments.emit == "changes" and not settings.getbool("INVENTORY_ENABLED", True):
        raise ArgumentError(
            "emit", "changes", "nothing is known to have changed without INVENTORY_ENABLED"
        )
    if arguments.due_files and not settings.getbool("INVENTORY_ENABLED", True):
        raise ArgumentError(
            "due_files", "1", "nothing is known to be due without INVENTORY_ENABLED"
        )


def as_text(value: object) -> str:
    """An argument as it would be written on a command line."""
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(value)


def refuse_unknown(
    values: Mapping[str, object], known: frozenset[str] = frozenset(), *, only: bool = False
) -> None:
    """Raise :class:`ArgumentError` for a name nobody reads; ``_job`` and the like are Scrapyd's.

    Read are the arguments of the main job, unless ``only`` those ``known`` are.
    """
    names = known if only else known.union(NAMES)
    for name, value in values.items():
        if name not in names and not name.startswith("_"):
            allowed = ", ".join(sorted(names))
            raise ArgumentError(name, str(value), f"no such argument; there are {allowed}")


def _readers(now: int) -> dict[str, Callable[[str, str], object]]:
    def since(name: str, text: str) -> int:
        if _AGE.fullmatch(text.strip()):
            return parse_age(name, text, now)
        lastmod = parse_lastmod(text)
        if lastmod is None or lastmod.time is None:
            raise ArgumentError(
                name, text, "give a date (2026-10-01), a W3C datetime or an age (7d, 36h)"
            )
        return lastmod.time

    return {
        "origin": _origins,
        "origins_file": _origins_file,
        "sitemap": _sitemap,
        "since": since,
        "undated": _choice("keep", "drop"),
        "emit": _choice("all", "changes"),
        "include": _pattern,
        "exclude": _pattern,
        "follow": _pattern,
        "max_files": _count,
        "max_urls": _count,
        "max_depth": _depth,
        "max_seconds": _count,
        "due_files": _flag,
    }


def _origins(name: str, text: str) -> tuple[Origin, ...]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise ArgumentError(name, text, "give a site's address, such as https://example.com")
    return tuple(_origin(name, part) for part in parts)


def _origin(name: str, text: str) -> Origin:
    if text.startswith((".", "/", "\\")) and not text.startswith("//"):
        raise ArgumentError(name, text, "not a site's address; for a local file give sitemap=")
    try:
        return parse_origin(text)
    except ValueError as error:
        raise ArgumentError(name, text, str(error)) from None


def _origins_file(name: str, text: str) -> tuple[Origin, ...]:
    try:
        lines = Path(text).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeError) as error:
        cause = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ArgumentError(name, text, f"cannot be read: {cause}; give a text file") from None
    found = []
    for number, line in enumerate(lines, 1):
        address = line.split("#", 1)[0].strip()
        if address:
            found.append(_origin(f"{name} line {number}", address))
    if not found:
        raise ArgumentError(name, text, "holds no origin; write one a line")
    return tuple(found)


def _sitemap(name: str, text: str) -> str | Path:
    address = text.strip()
    scheme, _, rest = address.partition("://")
    if rest and scheme.lower() in ("http", "https"):
        origin = _origin(name, address)
        return origin.sitemap or (origin.robots if is_robots(address) else origin.root + "/")
    try:
        path = _local(address)
        found = path.is_file()
    except (OSError, ValueError):
        found = False
    if not found:
        raise ArgumentError(name, text, "no such file; give an http(s) address or a local file")
    return path.resolve()


def _local(address: str) -> Path:
    """The path of a local file or ``file:`` URL; :class:`ValueError` for another machine's."""
    if not address.lower().startswith("file:"):
        return Path(address)
    if urlsplit(address).netloc not in ("", "localhost"):
        raise ValueError(address)
    return Path(file_uri_to_path(address))


def _pattern(name: str, text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        detail = str(error).partition("\n")[0]
        raise ArgumentError(name, text, f"not a regular expression: {detail}") from None


def _flag(name: str, text: str) -> bool:
    return _choice("0", "1")(name, text) == "1"


def _choice(*allowed: str) -> Callable[[str, str], str]:
    def read(name: str, text: str) -> str:
        if text not in allowed:
            raise ArgumentError(name, text, f"give {' or '.join(allowed)}")
        return text

    return read


def _count(name: str, text: str) -> int:
    return _whole(name, text, least=1)


def _depth(name: str, text: str) -> int:
    return _whole(name, text, least=0)


def _whole(name: str, text: str, *, least: int) -> int:
    if not re.fullmatch(r"[0-9]{1,12}", text.strip(), re.ASCII) or int(text) < least:
        raise ArgumentError(name, text, f"give a whole number from {least}")
    return int(text)
