"""What the sitemaps list beside any other list of a site's URLs, section by section."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from sitemap_discovery.protocol.urls import section_of, url_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sitemap_discovery.inventory.store import Store

PAGE: Final = 10_000
MOST_SHOWN: Final = 20
"""Examples that are kept of what is only in one of the two."""


@dataclass(slots=True)
class SectionCoverage:
    """One section: URLs that the sitemaps list, that the other list has, and that both have."""

    section: str
    listed: int = 0
    found: int = 0
    both: int = 0


@dataclass(slots=True)
class Coverage:
    """Both lists compared; ``only_found`` and ``only_listed`` hold the first of each."""

    sections: list[SectionCoverage] = field(default_factory=list)
    only_found: list[str] = field(default_factory=list)
    only_listed: list[str] = field(default_factory=list)

    @property
    def total(self) -> SectionCoverage:
        """All sections together."""
        total = SectionCoverage("")
        for each in self.sections:
            total.listed += each.listed
            total.found += each.found
            total.both += each.both
        return total

    def lines(self, name: str) -> list[str]:
        """A table to read; ``name`` is what the other list is called."""
        total = self.total
        lines = [
            f"{total.both:,} URLs are in both; {total.found - total.both:,} only {name}, "
            f"{total.listed - total.both:,} only in sitemaps",
            f"  {'section':<24}{'sitemaps':>12}{name:>14}{'both':>12}"
            f"{'of sitemaps':>13}{'of ' + name:>18}",
        ]
        for each in self.sections[:MOST_SHOWN]:
            lines.append(
                f"  {f'/{each.section}/' if each.section else '/':<24.24}{each.listed:>12,}"
                f"{each.found:>14,}{each.both:>12,}{_share(each.both, each.listed):>13}"
                f"{_share(each.both, each.found):>18}"
            )
        if len(self.sections) > MOST_SHOWN:
            lines.append(f"  and {len(self.sections) - MOST_SHOWN:,} sections more")
        return lines


def compare(store: Store, origin_id: int, found: Mapping[bytes, str]) -> Coverage:
    """Compare the URLs that an origin's sitemaps list now with those found elsewhere, by key."""
    sections: dict[str, SectionCoverage] = {}
    result, listed = Coverage(), set()
    query = "SELECT key, loc FROM url WHERE origin_id = ? AND gone_at IS NULL"
    for rows in store.pages(query, (origin_id,), PAGE):
        for key, loc in rows:
            section = section_of(loc)
            each = sections.setdefault(section, SectionCoverage(section))
            each.listed += 1
            if key in found:
                each.both += 1
                listed.add(key)
            elif len(result.only_listed) < MOST_SHOWN:
                result.only_listed.append(loc)
    for key, loc in found.items():
        section = section_of(loc)
        sections.setdefault(section, SectionCoverage(section)).found += 1
        if key not in listed and len(result.only_found) < MOST_SHOWN:
            result.only_found.append(loc)
    result.sections = sorted(sections.values(), key=lambda each: -(each.listed + each.found))
    return result


def keyed(locs: list[str]) -> dict[bytes, str]:
    """URLs by their keys, each once."""
    return {url_key(loc): loc for loc in locs}


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "-"
