"""Keeps what is known of each site's ``lastmod`` from read to read, in the inventory."""

from __future__ import annotations

import json
import zlib
from array import array
from dataclasses import asdict, fields
from hashlib import blake2b
from math import isnan
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sitemap_discovery.inventory.evidence import (
    StoredDates,
    StoredLook,
    StoredPage,
    StoredPart,
    StoredWaiting,
)
from sitemap_discovery.protocol.urls import url_key
from sitemap_discovery.trust.evidence import Look, Waiting, book, book_waiting
from sitemap_discovery.trust.moves import Move, movement
from sitemap_discovery.trust.numbers import numbers_of
from sitemap_discovery.trust.pagedates import compare_dates
from sitemap_discovery.trust.parts import SITE, Partition
from sitemap_discovery.trust.plan import Page, make_plan
from sitemap_discovery.trust.sample import Seen, choose, gap_of, shares
from sitemap_discovery.trust.sentences import sentence_of
from sitemap_discovery.trust.stamps import DAY, PRECISIONS, Stamp, stored_stamp
from sitemap_discovery.trust.static import Clues, FileDates, statistics
from sitemap_discovery.trust.thresholds import DEFAULT, Thresholds
from sitemap_discovery.trust.verdict import UNPROVEN, PartState, judge_site, part_state

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sitemap_discovery.inventory.evidence import EvidenceStore, StoredMove
    from sitemap_discovery.trust.moves import Movement
    from sitemap_discovery.trust.plan import Plan

READ_SECONDS: Final = 20 * 3_600
"""Reads that are closer together count as one: lastmod is judged by the day."""

MOST_MOVES: Final = 50_000
"""Moves of one part that are looked at one by one; of more, every second, fourth and so on."""

MOST_SEEN: Final = 20_000
SCAN, MOST_SCANNED = 1_000, 50
"""Pages fetched at a time to find fresh ones, and how often."""

WHOLE: Final = ("complete", "unchanged")


class PageLook(NamedTuple):
    """What a fetch of a page showed. ``outcome`` is ``first`` where there was nothing to compare
    with, ``same``, ``changed``, ``noisy``, or the reason why it tells nothing."""

    page: StoredPage
    at: int
    outcome: str
    status: int | None = None
    fingerprint: bytes | None = None
    simhash: bytes | None = None
    modified: str | None = None
    published: str | None = None
    etag: str | None = None
    last_modified: str | None = None


class TrustKeeper:
    """What a run of any spider tells of lastmod goes in here, verdicts and plans come out.

    ``store`` keeps it; times are UTC epoch seconds.
    """

    def __init__(self, store: EvidenceStore, limits: Thresholds = DEFAULT) -> None:
        self._store = store
        self._limits = limits

    # -- sitemaps are read -------------------------------------------------------------------------

    def note_file(self, file_id: int, sections: Mapping[str, FileDates], clues: Clues) -> None:
        """Keep the dates of a file that was read to its end."""
        rows = []
        for section, dates in sections.items():
            dates.settle(clues, self._limits)
            rows.append(_stored_dates(file_id, section, dates))
        self._store.save_dates(file_id, rows)

    def after_read(self, origin_id: int, run_id: int, now: int) -> list[PartState]:
        """Judge an origin when all its files were read; the whole site comes first."""
        dates = self._store.dates(origin_id)
        partition = Partition(dates)
        site, states, read_at = self._load(origin_id)
        counted: dict[str, float] = {}
        groups = partition.groups(dates)
        for name, group in groups.items():
            state = states.setdefault(name, PartState(name))
            if not all(_is_read_since(each, read_at.get(name)) for each in group):
                continue
            stat = self._statistics(group)
            last = read_at.get(name)
            state.facts = state.facts | {"dated_before": state.facts.get("dated", 0)}
            if last is not None and now - last < READ_SECONDS:
                state.look_again(stat)
            else:
                state.begin_read(stat, self._limits)
                counted[name] = (now - last) / DAY if last is not None else 0.0
            state.facts |= asdict(stat)
        self._add_moves(origin_id, partition, states, counted, read_at)
        self._book_waiting(origin_id, states, counted, now)
        read_at |= dict.fromkeys(counted, now)
        kept = {name: states[name] for name in groups}
        return self._save(origin_id, run_id, site, kept, read_at, now)

    def _statistics(self, group: Sequence[StoredDates]) -> Any:
        index = max((each.index_lastmod for each in group if each.index_lastmod), default=None)
        return statistics([_file_dates(each) for each in group], index=index, limits=self._limits)

    def _add_moves(
        self,
        origin_id: int,
        partition: Partition,
        states: Mapping[str, PartState],
        counted: Mapping[str, float],
        read_at: Mapping[str, int],
    ) -> None:
        again = {name: days for name, days in counted.items() if days}
        if not again:
            return
        since = min(read_at[name] for name in again)
        sampled: dict[str, _Sampled] = {name: _Sampled() for name in again}
        for move in self._store.moves(origin_id, since):
            name = partition.part_of(move.loc, move.file_id)
            if name in sampled and move.moved_at > read_at[name]:
                sampled[name].add(move)
        for name, days in again.items():
            state, some = states[name], sampled[name]
            compared = min(state.facts["dated"], state.facts["dated_before"])
            found = movement(some.moves, compared, self._limits, weight=some.weight)
            state.add_movement(found, days, self._limits)
            state.facts |= {f"last_{k}": v for k, v in asdict(found).items()} | {"last_days": days}
            if found.shift:
                self._shift(origin_id, partition, name, found)

    def _shift(self, origin_id: int, partition: Partition, name: str, movement: Movement) -> None:
        """A clock was set: what was seen before is shifted like it."""
        shift = movement.shift or 0
        ids = [
            page.url_id
            for page in self._store.pages_seen(origin_id, MOST_SEEN)
            if partition.part_of(page.loc, page.file_id) == name
            and None not in (page.stamp, page.stamp_then)
            and (page.stamp or 0) - (page.stamp_then or 0) == 8 * shift
        ]
        self._store.shift_stamps(ids, shift)

    def _book_waiting(
        self,
        origin_id: int,
        states: Mapping[str, PartState],
        counted: Mapping[str, float],
        now: int,
    ) -> None:
        waiting = self._store.waiting(origin_id)
        if not waiting:
            return
        now_has = self._store.stamps_now([each.url_id for each in waiting])
        stamps = {url_id: _stamp(*stamp) for url_id, stamp in now_has.items()}
        left: list[StoredWaiting] = []
        for name in dict.fromkeys(each.part for each in waiting):
            ours = [each for each in waiting if each.part == name]
            if name not in counted:
                left += ours
                continue
            looks = [Waiting(w.url_id, w.before, w.at, _stamp(w.stamp), w.changed) for w in ours]
            unbooked = book_waiting(states[name], looks, stamps, now)  # type: ignore[arg-type]
            left += [_stored_waiting(name, look) for look in unbooked]
        self._store.save_waiting(origin_id, left)

    # -- pages are looked at -----------------------------------------------------------------------

    def choose_pages(self, origin_id: int, count: int, *, seed: int, now: int) -> list[StoredPage]:
        """The pages to look at now, in no order of importance; empty when nothing is stored."""
        partition = Partition(self._store.dates(origin_id))
        site, states, _ = self._load(origin_id)
        if 0 < site.size <= 2 * count:
            start = self._store.pages_by_key(origin_id, b"", 2 * count)
            return [page for page in start if not page.is_noisy]
        pages = {page.url_id: page for page in self._store.pages_seen(origin_id, MOST_SEEN)}
        seen = [
            Seen(
                page.url_id,
                page.loc,
                partition.part_of(page.loc, page.file_id),
                page.fetched_at or 0,
                page.stamp != page.stamp_then,
            )
            for page in pages.values()
        ]
        days = self._days_per_read(states)
        salt = f"{seed}|{site.reads}"
        lives = self._lives(origin_id, partition, salt, now)
        gaps = {
            name: min(gap_of(state, days, self._limits), max(1, int(lives.get(name, 0) / days)))
            for name, state in states.items()
        }
        chosen = choose(
            seen,
            count,
            gaps,
            bulk={name for name, state in states.items() if state.bulk},
            days_per_read=days,
            now=now,
            seed=seed,
            limits=self._limits,
        )
        known = {page.url_id for page in seen if (now - page.looked_at) / DAY / days <= 4}
        fresh = self._fresh(origin_id, partition, states, chosen.fresh, known, salt)
        spare = chosen.spare[: count - len(chosen.seen) - len(fresh)]
        return [pages[each.url_id] for each in [*chosen.seen, *spare]] + fresh

    def _lives(self, origin_id: int, partition: Partition, salt: str, now: int) -> dict[str, float]:
        """Days for which each part's oldest pages have been listed: those of news are short."""
        lives: dict[str, float] = {}
        for page in self._store.pages_by_key(origin_id, _place(salt), SCAN):
            name = partition.part_of(page.loc, page.file_id)
            lives[name] = max(lives.get(name, 0.0), (now - page.first_seen) / DAY)
        return lives

    def _days_per_read(self, states: Mapping[str, PartState]) -> float:
        days = [state.facts.get("last_days") for state in states.values()]
        known = [each for each in days if each]
        return max(min(known), 0.8) if known else 1.0

    def _fresh(
        self,
        origin_id: int,
        partition: Partition,
        states: Mapping[str, PartState],
        count: int,
        known: set[int],
        salt: str,
    ) -> list[StoredPage]:
        """Pages that were not looked at lately, from a random place in the order of their keys on;
        each part has its share."""
        left = shares({name: state.size for name, state in states.items()}, count)
        spare: list[StoredPage] = []
        fresh: list[StoredPage] = []
        for page in self._by_key(origin_id, _place(salt)):
            if page.is_noisy or page.url_id in known:
                continue
            name = partition.part_of(page.loc, page.file_id)
            if left.get(name, 0) > 0:
                left[name] -= 1
                fresh.append(page)
            elif len(spare) < count:
                spare.append(page)
            if len(fresh) >= count or not any(left.values()):
                break
        return fresh + spare[: count - len(fresh)]

    def _by_key(self, origin_id: int, start: bytes) -> Iterator[StoredPage]:
        met: set[int] = set()
        for begin in (start, b""):
            key = begin
            for _ in range(MOST_SCANNED):
                pages = self._store.pages_by_key(origin_id, key, SCAN)
                for page in pages:
                    if page.url_id in met:
                        continue
                    met.add(page.url_id)
                    yield page
                if len(pages) < SCAN:
                    break
                key = url_key(pages[-1].loc)

    def note_looks(
        self, origin_id: int, run_id: int, looks: Sequence[PageLook], now: int
    ) -> list[PartState]:
        """Book the looks of one run and judge anew; the whole site comes first."""
        partition = Partition(self._store.dates(origin_id))
        site, states, read_at = self._load(origin_id)
        rows: list[StoredLook] = []
        by_part: dict[str, list[Look]] = {}
        for look in looks:
            name = partition.part_of(look.page.loc, look.page.file_id)
            state = states.setdefault(name, PartState(name))
            compared = _as_look(look)
            if compared is not None:
                by_part.setdefault(name, []).append(compared)
            if look.outcome in ("first", "same", "changed") and look.page.stamp is not None:
                _note_page_dates(state, look)
            rows.append(_stored_look(name, look, compared))
        waiting = self._store.waiting(origin_id)
        bulk = [look for name in by_part if states[name].bulk for look in by_part[name]]
        everywhere = [look for looks in by_part.values() for look in looks]
        for name in {name for name, state in states.items() if state.bulk} | by_part.keys():
            ours = by_part.get(name, [])
            booked = book(states[name], ours, self._limits, bulk=bulk, everywhere=everywhere)
            again = {look.url_id for look in booked.waiting}
            waiting = [each for each in waiting if each.url_id not in again]
            waiting += [_stored_waiting(name, each) for each in booked.waiting]
            if booked.strike or booked.burst:
                self._start_over(origin_id, partition, name, write_off=booked.strike)
        self._store.save_waiting(origin_id, waiting)
        self._store.save_looks(origin_id, run_id, rows)
        return self._save(origin_id, run_id, site, states, read_at, now)

    def _start_over(
        self, origin_id: int, partition: Partition, name: str, *, write_off: bool
    ) -> None:
        """An empty bulk move is written off, so that it is not met again page by page; with a new
        template nothing that was seen before can be compared."""
        ids = [
            page.url_id
            for page in self._store.pages_seen(origin_id, MOST_SEEN)
            if partition.part_of(page.loc, page.file_id) == name
        ]
        if write_off:
            self._store.write_off(ids)
        else:
            self._store.drop_baselines(ids)

    # -- what comes of it --------------------------------------------------------------------------

    def plan(
        self, origin_id: int, *, now: int, limit: int | None = None, audits: Iterable[str] = ()
    ) -> Plan:
        """The pages to fetch next."""
        partition = Partition(self._store.dates(origin_id))
        _, states, _ = self._load(origin_id)
        return make_plan(
            self._pages(origin_id, partition),
            states,
            now=now,
            limit=limit,
            audits=set(audits),
            limits=self._limits,
        )

    def _pages(self, origin_id: int, partition: Partition) -> Iterator[Page]:
        for pages in self._store.pages_of(origin_id, SCAN):
            for page in pages:
                yield Page(
                    page.loc,
                    partition.part_of(page.loc, page.file_id),
                    None if page.stamp is None else _stamp(page.stamp, page.raw),
                    page.tried_at,
                    None if page.stamp_then is None else _stamp(page.stamp_then),
                    page.looks,
                    page.changes,
                    page.observed,
                    page.first_seen,
                )

    def verdicts(self, origin_id: int) -> Verdicts:
        """The verdict that holds for each URL now."""
        partition = Partition(self._store.dates(origin_id))
        found = {part.name: part.verdict for part in self._store.parts(origin_id)}
        return Verdicts(partition, found)

    # -- to and from the store ---------------------------------------------------------------------

    def _load(self, origin_id: int) -> tuple[PartState, dict[str, PartState], dict[str, int]]:
        parts = self._store.parts(origin_id)
        states = {part.name: part_state(json.loads(part.state)) for part in parts}
        read_at = {part.name: part.read_at for part in parts if part.read_at is not None}
        site = states.pop(SITE, PartState(SITE))
        return site, states, read_at

    def _save(
        self,
        origin_id: int,
        run_id: int,
        site: PartState,
        states: Mapping[str, PartState],
        read_at: Mapping[str, int],
        now: int,
    ) -> list[PartState]:
        parts = list(states.values())
        for part in parts:
            part.judge(self._limits)
        judge_site(site, parts, self._limits)
        _sum_facts(site, parts)
        judged = [site, *parts] if parts else []
        rows = [self._stored_part(part, read_at.get(part.name), now) for part in judged]
        self._store.save_parts(origin_id, rows, run_id)
        return judged

    def _stored_part(self, part: PartState, read_at: int | None, now: int) -> StoredPart:
        numbers = {
            name: None if isnan(value) else round(value, 6)
            for name, value in asdict(numbers_of(part.long, self._limits)).items()
        }
        return StoredPart(
            name=part.name,
            verdict=part.verdict,
            why=json.dumps(part.why),
            sentence=sentence_of(part, self._limits),
            score=round(part.score(self._limits), 4),
            urls=part.size,
            reads=part.reads,
            read_at=read_at,
            judged_at=now,
            state=json.dumps(part.as_dict()),
            numbers=json.dumps(numbers),
        )


class Verdicts:
    """The verdicts of an origin's parts, for its URLs."""

    def __init__(self, partition: Partition, verdicts: Mapping[str, str]) -> None:
        self._partition, self._verdicts = partition, verdicts
        self._all = {verdict for name, verdict in verdicts.items() if name != SITE} or {UNPROVEN}

    def of(self, url: str, locs: Sequence[str]) -> str | list[str]:
        """The verdict that holds for the URLs of the file at ``url``, or one for each of them."""
        if len(self._all) == 1:
            return next(iter(self._all))
        parts = self._partition.parts_of(url, locs)
        if isinstance(parts, str):
            return self._verdicts.get(parts, UNPROVEN)
        return [self._verdicts.get(part, UNPROVEN) for part in parts]

    def of_one(self, url: str | None, loc: str) -> str:
        """The verdict that holds for one URL of the file at ``url``."""
        found = self.of(url or "", [loc])
        return found if isinstance(found, str) else found[0]


class _Sampled:
    """Moves, or every second, fourth … of them when they are many."""

    def __init__(self) -> None:
        self.moves: list[Move] = []
        self.weight = 1
        self._met = 0

    def add(self, move: StoredMove) -> None:
        self._met += 1
        if self._met % self.weight:
            return
        self.moves.append(Move(_stamp(move.old), _stamp(move.new)))
        if len(self.moves) >= MOST_MOVES:
            self.moves, self.weight = self.moves[::2], 2 * self.weight


def _place(salt: str) -> bytes:
    """A random place in the order of the keys, the same for the same salt."""
    return blake2b(salt.encode(), digest_size=16).digest()


def _is_read_since(dates: StoredDates, moment: int | None) -> bool:
    """Whether a file was read to its end, or found unchanged, in the read at hand."""
    return dates.state in WHOLE and (moment is None or (dates.complete_at or 0) > moment)


def _stamp(code: int, raw: str | None = None) -> Stamp:
    return stored_stamp(code // 8, PRECISIONS[code % 8], raw)


_COUNTS: Final = tuple(
    f.name for f in fields(StoredDates) if f.name in {g.name for g in fields(FileDates)}
)


def _stored_dates(file_id: int, section: str, dates: FileDates) -> StoredDates:
    counts = {name: getattr(dates, name) for name in _COUNTS if name != "stamps"}
    counts["is_news"] = int(dates.is_news)
    stamps = zlib.compress(dates.stamps.tobytes(), 1)
    return StoredDates(file_id=file_id, section=section, stamps=stamps, **counts)


def _file_dates(stored: StoredDates) -> FileDates:
    counts = {name: getattr(stored, name) for name in _COUNTS if name != "stamps"}
    return FileDates(**counts, stamps=array("q", zlib.decompress(stored.stamps)))


def _stored_waiting(name: str, look: Waiting) -> StoredWaiting:
    code = look.stamp.time * 8 + PRECISIONS.index(look.stamp.precision)
    return StoredWaiting(look.url_id, name, look.before, look.at, code, look.changed)


def _as_look(look: PageLook) -> Look | None:
    """A look that can be evidence: at a dated page that was compared with what it was."""
    page = look.page
    if look.outcome not in ("same", "changed") or page.fetched_at is None:
        return None
    if page.stamp is None or page.stamp_then is None:
        return None
    return Look(
        page.url_id,
        page.fetched_at,
        look.at,
        _stamp(page.stamp_then),
        _stamp(page.stamp, page.raw),
        look.outcome == "changed",
    )


def _stored_look(name: str, look: PageLook, compared: Look | None) -> StoredLook:
    page = look.page
    days = (look.at - page.fetched_at) / DAY if page.fetched_at is not None else 0.0
    return StoredLook(
        page.url_id,
        name,
        look.at,
        look.status,
        look.outcome,
        compared.moved if compared else None,
        look.fingerprint,
        look.simhash,
        page.stamp,
        look.modified,
        look.published,
        look.etag,
        look.last_modified,
        days,
    )


def _note_page_dates(state: PartState, look: PageLook) -> None:
    if look.modified and look.page.stamp is not None:
        stamp = _stamp(look.page.stamp, look.page.raw)
        compare_dates(
            state.page_dates,
            stamp,
            look.modified,
            look.published,
            look.at,
            in_bulk=state.is_in_cluster(stamp),
        )


def _sum_facts(site: PartState, parts: Sequence[PartState]) -> None:
    facts = [part.facts for part in parts]
    dated = sum(each.get("dated", 0) for each in facts)
    near = sum(each.get("track", 0.0) * each.get("dated", 0) for each in facts)
    clustered = sum(part.cluster * part.facts.get("dated", 0) for part in parts)
    site.facts = {"dated": dated, "track": near / dated if dated else 0.0}
    site.cluster = clustered / dated if dated else 0.0
