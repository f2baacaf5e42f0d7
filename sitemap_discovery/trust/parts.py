"""The parts of a site that are judged by themselves: families of files, or sections of one."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from sitemap_discovery.inventory.evidence import OTHER
from sitemap_discovery.protocol.urls import section_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sitemap_discovery.inventory.evidence import StoredDates

SITE: Final = ""
"""The name of the part that is the whole site."""

REST: Final = "other"
"""The name of the part that all small ones make together."""

DOMINANT: Final = 0.95
MOST_SECTIONS: Final = 7
LEAST_URLS: Final = 20

_DIGITS: Final = re.compile(r"\d+")


def family_of(url: str) -> str:
    """A file's address without what tells it from its siblings.

    >>> family_of("https://a.example/post-sitemap12.xml")
    '/post-sitemap#.xml'
    """
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    return _DIGITS.sub("#", parts.path + query)


class Partition:
    """Which part each URL of a site belongs to.

    Families of files, unless one holds nearly all URLs: then first segments of their paths. What is
    small is one part together.
    """

    def __init__(self, dates: Sequence[StoredDates]) -> None:
        self._families = {each.file_id: family_of(each.url) for each in dates}
        families: Counter[str] = Counter()
        sections: Counter[str] = Counter()
        for each in dates:
            families[self._families[each.file_id]] += each.n
            if each.section != OTHER:
                sections[each.section] += each.n
        total = families.total()
        largest = max(families.values(), default=0)
        self.by_section = bool(total) and largest > DOMINANT * total
        sizes = dict(sections.most_common(MOST_SECTIONS)) if self.by_section else families
        self._named = {name for name, size in sizes.items() if size >= LEAST_URLS}
        if len(sizes) == 1:
            self._named = set(sizes)

    def part_of(self, loc: str, file_id: int | None) -> str:
        """The name of the part of a URL that was read from a file."""
        if self.by_section:
            return self._section(section_of(loc))
        return self._family(self._families.get(file_id or 0, REST))

    def parts_of(self, url: str, locs: Sequence[str]) -> str | list[str]:
        """The part of all URLs that the file at ``url`` lists, or one for each."""
        if self.by_section:
            return [self._section(section_of(loc)) for loc in locs]
        return self._family(family_of(url))

    def groups(self, dates: Sequence[StoredDates]) -> dict[str, list[StoredDates]]:
        """The dates of each part."""
        groups: dict[str, list[StoredDates]] = {}
        for each in dates:
            if self.by_section:
                name = self._section(each.section)
            else:
                name = self._family(self._families[each.file_id])
            groups.setdefault(name, []).append(each)
        return groups

    def _family(self, family: str) -> str:
        return family if family in self._named else REST

    def _section(self, section: str) -> str:
        if section not in self._named:
            return REST
        return f"/{section}/" if section else "/"
