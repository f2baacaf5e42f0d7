"""Verdicts: whether a part's ``lastmod`` may be believed, and why."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from math import isnan, sqrt
from typing import TYPE_CHECKING, Any, Final

from sitemap_discovery.trust.numbers import Numbers, Table, numbers_of, wilson
from sitemap_discovery.trust.thresholds import DEFAULT, Thresholds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sitemap_discovery.trust.moves import Movement
    from sitemap_discovery.trust.stamps import Stamp
    from sitemap_discovery.trust.static import Statistics

ABSENT: Final = "absent"
GENERATION: Final = "generation-time"
UNTRUSTED: Final = "untrusted"
UNPROVEN: Final = "unproven"
TRUSTED: Final = "trusted"
MIXED: Final = "mixed"
VERDICTS: Final = (TRUSTED, MIXED, UNPROVEN, UNTRUSTED, GENERATION, ABSENT)

RIDES: Final = "site-trusted"
"""The reason of a part that has too little evidence of its own."""

SUSPECTED: Final = "suspected"
CONFIRMED: Final = "confirmed"

MEMORY: Final = 64
"""Reads with hits that are remembered."""


@dataclass(slots=True)
class PageDates:
    """How pages' own ``dateModified`` compare with lastmod; ``tested`` pages tell whether the field
    itself can be believed: ``rendered`` within an hour of the fetch, ``created`` equal to the date
    of publication."""

    agree: int = 0
    behind: int = 0
    ahead: int = 0
    tested: int = 0
    rendered: int = 0
    created: int = 0
    days: dict[str, int] = field(default_factory=dict)

    def faults(self, limits: Thresholds = DEFAULT) -> list[str]:
        """What the pages' dates say against lastmod; agreement says nothing for it."""
        if self.tested >= limits.page_date_min and self._is_worthless():
            return []
        never_updated = self.tested and self.created >= 0.95 * self.tested
        ahead = 0 if never_updated else self.ahead
        compared = self.agree + self.behind + ahead
        if compared < limits.page_date_min:
            return []
        _, most = wilson(self.agree, compared, limits.accuse_z)
        if most >= limits.page_date_share:
            return []
        return ["page-dates-behind" if self.behind >= ahead else "page-dates-ahead"]

    def _is_worthless(self) -> bool:
        one_day = max(self.days.values(), default=0) >= 0.8 * self.tested
        return 2 * self.rendered >= self.tested or one_day


@dataclass(slots=True)
class PartState:
    """What is remembered of one part of a site, or of the whole, from read to read.

    ``size`` is its number of URLs. ``strikes``, ``bursts`` and ``hit_reads`` hold the numbers of
    the reads in which a bulk move was empty, a template changed, and moved pages had changed.
    ``bulk`` says that the last read met a bulk move, ``shown`` that its pages had changed.
    """

    name: str
    size: int = 0
    reads: int = 0
    verdict: str = UNPROVEN
    why: list[str] = field(default_factory=list)
    generation: str = ""
    coverage: float = 1.0
    cluster: float = 0.0
    future: float = 0.0
    strikes: list[int] = field(default_factory=list)
    bursts: list[int] = field(default_factory=list)
    hit_reads: list[int] = field(default_factory=list)
    expected: float = 0.0
    seen: float = 0.0
    quiet_days: float = 0.0
    bulk: bool = False
    shown: bool = False
    long: Table = field(default_factory=Table)
    short: Table = field(default_factory=Table)
    page_dates: PageDates = field(default_factory=PageDates)
    facts: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """For the inventory; :func:`part_state` reads it."""
        return asdict(self)

    # -- a read ------------------------------------------------------------------------------------

    def begin_read(self, stat: Statistics, limits: Thresholds = DEFAULT) -> None:
        """A new read: older evidence weighs less, and the dates are looked at by themselves."""
        self.reads += 1
        self.long.decay(limits.long_half_life)
        self.short.decay(limits.short_half_life)
        self.look_again(stat)

    def look_again(self, stat: Statistics) -> None:
        """The dates by themselves, of a read that is too close to the last one to count."""
        self.size, self.coverage, self.cluster = stat.n, stat.coverage, stat.cluster
        self.future = stat.future
        if stat.gen_now and not self.generation:
            self.generation = SUSPECTED
        elif not stat.gen_now and self.generation == SUSPECTED:
            self.generation = ""

    def add_movement(self, movement: Movement, days: float, limits: Thresholds = DEFAULT) -> None:
        """What moved since the last read, ``days`` ago."""
        self.bulk, self.shown = movement.is_bulk, False
        if movement.is_partial and not movement.is_bulk:
            self.generation = ""
        self._watch(movement, days, limits)
        if movement.is_bulk:
            return
        for table in (self.long, self.short):
            table.moves += movement.moved
            table.backward += movement.backward
            table.compared += movement.compared * days

    def _watch(self, movement: Movement, days: float, limits: Thresholds) -> None:
        """Notice when moves stop."""
        rate = self.long.moves / self.long.compared if self.long.compared else 0.0
        self.expected += rate * movement.compared * days
        self.seen += movement.moved
        self.quiet_days += days
        if self.seen > limits.stopped_share * self.expected:
            self.expected = self.seen = self.quiet_days = 0.0

    def have_stopped(self, limits: Thresholds = DEFAULT) -> bool:
        """Whether so few entries move now that something has broken."""
        return (
            self.expected >= limits.stopped_expected
            and self.seen <= limits.stopped_share * self.expected
            and self.quiet_days >= limits.stopped_days
        )

    def note_bulk(self, changed: int, looked: int, limits: Thresholds = DEFAULT) -> bool:
        """What looks at pages of a bulk move showed; true when it was empty: a strike."""
        self.shown = is_real(changed, looked, limits)
        if looked < limits.burst_looks or self.shown:
            return False
        self.strikes = [*self._recent(self.strikes, limits), self.reads]
        if self.cluster >= limits.cluster_share or len(self.strikes) >= 2:
            self.generation = CONFIRMED
        self.long, self.short = Table(), Table()
        return True

    def note_hit(self) -> None:
        """A moved page had changed in this read."""
        if self.reads not in self.hit_reads:
            self.hit_reads = [*self.hit_reads[1 - MEMORY :], self.reads]

    def _recent(self, reads: Sequence[int], limits: Thresholds) -> list[int]:
        return [read for read in reads if self.reads - read < limits.strike_memory]

    def is_in_cluster(self, stamp: Stamp, limits: Thresholds = DEFAULT) -> bool:
        """Whether a date is one of many that lie together."""
        start = self.facts.get("cluster_start")
        if start is None or self.cluster < limits.bulk_stamp_share:
            return False
        return bool(0 <= stamp.time - start <= limits.cluster_seconds)

    # -- the verdict -------------------------------------------------------------------------------

    def judge(self, limits: Thresholds = DEFAULT) -> None:
        """Set ``verdict`` and ``why`` by the first rule that fits."""
        was_trusted = self.verdict == TRUSTED and self.why != [RIDES]
        self.verdict, self.why = self._judged(was_trusted, limits)

    def _judged(self, was_trusted: bool, limits: Thresholds) -> tuple[str, list[str]]:
        if self.coverage < limits.absent_share:
            return ABSENT, ["coverage"]
        strikes = self._recent(self.strikes, limits)
        if self.generation == CONFIRMED or len(strikes) >= 2:
            return GENERATION, ["bulk-moves-without-change"]
        if self.generation == SUSPECTED:
            return GENERATION, ["one-stamp-near-generation"]
        return self._by_evidence(was_trusted, limits)

    def _by_evidence(self, was_trusted: bool, limits: Thresholds) -> tuple[str, list[str]]:
        """Rules 3 to 7."""
        numbers = numbers_of(self.long, limits)
        proven = self._is_proven(numbers, limits)
        if bad := self._faults(numbers, limits, proven=proven):
            return UNTRUSTED, bad
        if held := self._held(limits):
            return UNPROVEN, held
        if was_trusted:
            stays = (
                numbers.moved_seen >= limits.stay_moved
                and numbers.precision_least >= limits.stay_precision
                and numbers.recall_least >= limits.stay_recall
            )
            return (TRUSTED, ["still-holds"]) if stays else (UNPROVEN, ["evidence-ran-out"])
        if self.reads >= limits.min_reads and proven:
            return TRUSTED, ["precision-and-recall-shown"]
        return UNPROVEN, self._lacks(numbers, limits)

    def _is_proven(self, numbers: Numbers, limits: Thresholds) -> bool:
        return (
            numbers.moved_seen >= limits.min_moved
            and len(self.hit_reads) >= limits.min_hit_reads
            and numbers.precision_least >= limits.precision
            and numbers.recall_least >= limits.recall
        )

    def _faults(self, numbers: Numbers, limits: Thresholds, *, proven: bool) -> list[str]:
        bad = []
        if (
            self.long.moves >= limits.backward_moves
            and self.long.backward >= limits.backward_share * self.long.moves
        ):
            bad.append("unstable")
        if self.reads >= limits.min_reads:
            bad += _accusations(self.long, numbers, limits)
        if self.future > limits.future_share:
            bad.append("future")
        return bad if proven else bad + self.page_dates.faults(limits)

    def _held(self, limits: Thresholds) -> list[str]:
        held = []
        if any(self.reads - read < limits.strike_hold for read in self.strikes):
            held.append("recent-bulk-move")
        recent = _accusations(self.short, numbers_of(self.short, limits), limits)
        held += [f"lately-{reason}" for reason in recent]
        return [*held, "moves-stopped"] if self.have_stopped(limits) else held

    def _lacks(self, numbers: Numbers, limits: Thresholds) -> list[str]:
        lacks = []
        if self.reads < limits.min_reads:
            lacks.append("too-few-reads")
        if numbers.moved_seen < limits.min_moved:
            lacks.append("too-few-moves-checked")
        elif len(self.hit_reads) < limits.min_hit_reads:
            lacks.append("hits-in-one-read")
        elif numbers.precision_least < limits.precision:
            lacks.append("precision-not-shown")
        if numbers.recall_least < limits.recall:
            lacks.append("recall-not-shown")
        return lacks

    @property
    def is_short_of_evidence(self) -> bool:
        """Whether nothing stands against the part but that too little of it was seen."""
        lacks = {"too-few-reads", "too-few-moves-checked", "hits-in-one-read",
                 "precision-not-shown", "recall-not-shown"}  # fmt: skip
        return self.verdict == UNPROVEN and set(self.why) <= lacks

    def score(self, limits: Thresholds = DEFAULT) -> float:
        """What the evidence guarantees, 0.0–1.0: the geometric mean of the lower bounds of
        precision and recall; 0 where dates are absent, of generation time or untrusted."""
        if self.verdict in (ABSENT, GENERATION, UNTRUSTED):
            return 0.0
        numbers = numbers_of(self.long, limits)
        return sqrt(numbers.precision_least * numbers.recall_least)


def part_state(stored: dict[str, Any]) -> PartState:
    """A state as :meth:`PartState.as_dict` gave it; fields it does not know are left out."""
    known = {f.name for f in fields(PartState)}
    values = {name: value for name, value in stored.items() if name in known}
    for name, kind in (("long", Table), ("short", Table), ("page_dates", PageDates)):
        if name in values:
            values[name] = kind(**values[name])
    return PartState(**values)


def _accusations(table: Table, numbers: Numbers, limits: Thresholds) -> list[str]:
    bad = []
    if table.moved_looks >= limits.min_accused and numbers.precision_most < limits.precision:
        bad.append("over-reports")
    under = not isnan(numbers.recall_most) and numbers.recall_most < limits.recall
    if table.misses >= limits.min_misses and under:
        bad.append("under-reports")
    return bad


def is_real(changed: int, looked: int, limits: Thresholds = DEFAULT) -> bool:
    """Whether looks at a bulk move show that most of its pages changed."""
    least, _ = wilson(changed, looked, limits.precision_z)
    return looked >= limits.burst_looks and least >= limits.precision


def judge_site(site: PartState, parts: Sequence[PartState], limits: Thresholds = DEFAULT) -> None:
    """Judge the whole site by its judged parts, and let parts that lack evidence ride on it."""
    was_trusted = site.verdict == TRUSTED
    total = sum(part.size for part in parts) or 1

    def share(*verdicts: str) -> float:
        return sum(part.size for part in parts if part.verdict in verdicts) / total

    _sum_up(site, parts)
    bad = (UNTRUSTED, GENERATION, ABSENT)
    if share(ABSENT) >= 0.95:
        site.verdict, site.why = ABSENT, ["coverage"]
    elif share(GENERATION) >= 0.80:
        site.verdict, site.why = GENERATION, _reasons(parts, GENERATION)
    elif share(TRUSTED) and any(p.size >= 0.05 * total and p.verdict in bad for p in parts):
        site.verdict, site.why = MIXED, ["parts-differ"]
    else:
        verdict, why = site._by_evidence(was_trusted, limits)
        blocked = [p for p in parts if p.verdict in bad or _is_held(p)]
        if verdict == TRUSTED and blocked:
            verdict, why = UNPROVEN, ["parts-differ"]
        if verdict != UNTRUSTED and share(UNTRUSTED) >= 0.5:
            verdict, why = UNTRUSTED, _reasons(parts, UNTRUSTED)
        elif verdict not in (TRUSTED, UNTRUSTED):
            verdict, why = _by_shares(share, parts) or (verdict, why)
        site.verdict, site.why = verdict, why
    if site.verdict == TRUSTED:
        for part in parts:
            if part.is_short_of_evidence and part.long.hits >= 0.5 and part.long.misses < 0.5:
                part.verdict, part.why = TRUSTED, [RIDES]


def _by_shares(share: Any, parts: Sequence[PartState]) -> tuple[str, list[str]] | None:
    for verdict in (GENERATION, ABSENT):
        if share(verdict) >= 0.5:
            return verdict, _reasons(parts, verdict)
    return (TRUSTED, ["parts-trusted"]) if share(TRUSTED) >= 0.95 else None


def _sum_up(site: PartState, parts: Sequence[PartState]) -> None:
    site.size = sum(part.size for part in parts)
    site.reads = max((part.reads for part in parts), default=0)
    site.hit_reads = sorted({read for part in parts for read in part.hit_reads})
    site.strikes, site.page_dates = [], PageDates()
    site.long, site.short = Table(), Table()
    site.expected = site.seen = site.quiet_days = 0.0
    for part in parts:
        site.long.add(part.long)
        site.short.add(part.short)
    site.future = sum(part.future * part.size for part in parts) / site.size if site.size else 0.0
    site.coverage = (
        sum(part.coverage * part.size for part in parts) / site.size if site.size else 0.0
    )


def _is_held(part: PartState) -> bool:
    held = ("recent-bulk-move", "moves-stopped")
    return any(reason in held or reason.startswith("lately-") for reason in part.why)


def _reasons(parts: Sequence[PartState], verdict: str) -> list[str]:
    return sorted({reason for part in parts if part.verdict == verdict for reason in part.why})
