"""One origin on its way through discovery: what its robots.txt said, its frontier, its counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from sitemap_discovery.protocol.urls import ScopeJudge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sitemap_discovery.items import SitemapFile
    from sitemap_discovery.spiders.frontier import Frontier
    from sitemap_discovery.spiders.guesses import Guesses

NOT_WHOLE: Final = frozenset({"partial", "failed", "skipped"})
"""States of files that were not read to their end."""

NOT_ASKED: Final = "robots.txt: not asked for"

MOST_NAMED, MOST_SHOWN = 20, 5
"""Files that were not whole: how many are remembered, and told in one line; the rest is counted."""


@dataclass
class Walk:
    """The state of one origin. ``urls`` counts the entries read, ``tried`` names the first files
    that were not whole, ``not_whole`` counts them all; ``found`` says that a sitemap was read,
    ``orphaned`` that files were looked for that nothing names any more.

    ``base`` is the address the site answers at: ``root``, or one of its ``variants`` when those
    before it are ``unanswered``. ``guesses`` are the addresses tried where robots.txt names none,
    ``guessed`` those that were no sitemap, and why. ``bodies`` holds the digest of each body that
    was read and the file it was first read as.
    """

    root: str
    frontier: Frontier
    base: str = ""
    variants: list[str] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)
    guesses: Guesses | None = None
    guessed: list[str] = field(default_factory=list)
    in_vain: int = 0
    bodies: dict[bytes, str] = field(default_factory=dict)
    urls: int = 0
    found: bool = False
    orphaned: bool = False
    tried: list[str] = field(default_factory=list)
    not_whole: int = 0
    robots: str = NOT_ASKED
    named_hosts: set[str] = field(default_factory=set)

    def count(self, file: SitemapFile) -> None:
        """Note how a file ended."""
        state = str(file.state)
        if file.kind == "robots":
            self.robots = f"robots.txt: {file.reason}"
        elif state not in ("failed", "skipped"):
            self.found = True
        if state in NOT_WHOLE and file.reason != "duplicate-file":
            self.not_whole += 1
            if len(self.tried) < MOST_NAMED:
                self.tried.append(f"{file.url} {file.reason}")

    @property
    def is_complete(self) -> bool:
        """Whether a sitemap was found, and every file of it read to its end."""
        frontier = self.frontier
        left = len(frontier) or frontier.in_flight or frontier.cut_by
        return self.found and not self.not_whole and not left

    @property
    def is_discovery(self) -> bool:
        """Whether all files of the origin are looked for, not only one that was named."""
        return self.robots != NOT_ASKED

    def first_of(self, body: bytes, url: str) -> str:
        """The file that a body was first read as: ``url`` itself, or another."""
        return self.bodies.setdefault(sha256(body).digest(), url)

    def account(self) -> str:
        """Why nothing was found, in one line."""
        named = [text for text in self.tried if not text.startswith(f"{self.base}/robots.txt ")]
        rest = self.not_whole - len(self.tried)
        named += self.guessed
        shown = named[:MOST_SHOWN]
        rest += len(named) - len(shown)
        if rest:
            shown.append(f"and {rest:,} more")
        tried = "; ".join([*self.unanswered, *shown]) or "no sitemap file was read"
        return f"{self.root}: {self.robots}; {tried}"

    def admits(self, url: str) -> bool:
        """Whether a child file may live where it lives: on the origin's host or its registrable
        domain, or on a host that the origin's own robots.txt names (hostile hosts are not asked).
        """
        host, own = urlsplit(url).hostname or "", urlsplit(self.root).hostname or ""
        return (
            host == own
            or host in self.named_hosts
            or not own
            or _registrable(host) == _registrable(own)
        )

    def scopes(self, file: SitemapFile, locs: Sequence[str]) -> list[str]:
        """The scope of each page URL of ``file``."""
        judge = ScopeJudge(file.final_url or file.url, self.root, self.named_hosts)
        return judge.judge(locs)


@lru_cache(maxsize=4096)
def _registrable(host: str) -> str:
    """The domain one owner registers, from the suffix list that tldextract ships; never fetched."""
    import tldextract  # costs a tenth of a second, needed only for files on another host

    extract = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
    return extract(host).top_domain_under_public_suffix or host
