"""Every threshold of the rules, by the name of its setting without ``LASTMOD_``."""

from __future__ import annotations

import ast
from dataclasses import dataclass, fields
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where one verdict ends and the next begins. Shares are 0.0–1.0, times seconds or days."""

    cluster_seconds: int = 900
    """Stamps within so many seconds count as one."""
    clue_before_seconds: int = 3_600
    """A stamp this long before the moment the file was built is that moment."""
    clue_after_seconds: int = 300
    """And one this long after it."""
    clue_fresh_seconds: int = 48 * 3_600
    """An HTTP Last-Modified older than this when the file is fetched is no clue."""
    cluster_share: float = 0.90
    """Share of stamps in one cluster that, with the next, shows generation time."""
    track_share: float = 0.90
    """Share of stamps near the moment the file was built."""
    min_stamps: int = 10
    """Stamps that a file needs for that."""
    min_date_only: int = 20
    """The same for dates without a time of day."""
    absent_share: float = 0.05
    """Below this share of dated entries there are none to speak of."""
    zone_slack_seconds: int = 14 * 3_600
    """How wrong a date without a zone may be, each way."""
    bulk_moved: float = 0.80
    """Share of dated entries that move together in a bulk move."""
    bulk_window: float = 0.90
    """Share of their new values in one cluster."""
    bulk_compared: int = 10
    """Entries that must be compared for one."""
    strike_memory: int = 20
    """Reads for which a bulk move without changes is remembered: two of them convict."""
    strike_hold: int = 3
    """Reads for which one holds trust back."""
    long_half_life: float = 20.0
    """Reads after which evidence weighs half where it grants trust."""
    short_half_life: float = 3.0
    """The same where it takes trust away."""
    min_moved: int = 5
    """Looks at moved pages that trust needs."""
    min_accused: int = 3
    """Looks at moved pages after which too many that had not changed convict."""
    min_hit_reads: int = 2
    """Different reads in which moved pages had changed that trust needs."""
    min_reads: int = 3
    """Reads that any verdict by evidence needs."""
    precision: float = 0.50
    """Lower bound of the share of moved pages that had changed that trust needs."""
    precision_z: float = 1.645
    """Normal quantile of that bound."""
    recall: float = 0.70
    """Lower bound of the share of changes that move lastmod that trust needs."""
    recall_z: float = 1.96
    """Normal quantile of that bound."""
    accuse_z: float = 1.645
    """Normal quantile of the bounds by which a site is accused."""
    min_misses: float = 2.5
    """Silent changes that an accusation needs."""
    stay_precision: float = 0.35
    """Lower bound of precision that is enough to stay trusted."""
    stay_recall: float = 0.45
    """The same for recall."""
    stay_moved: float = 2.0
    """Looks at moved pages, older ones weighing less, that staying trusted needs."""
    noise: float = 0.005
    """Changes per look at a page that did not change, allowed for when a site is accused."""
    burst_share: float = 0.80
    """Share of unmoved pages that changed at once which makes a new template."""
    burst_looks: int = 5
    """Looks that this, or the judgement on a bulk move, needs."""
    burst_free: int = 2
    """New templates within `STRIKE_MEMORY` reads that are not held against a site."""
    backward_share: float = 0.20
    """Share of moves to an earlier date that makes dates unstable."""
    backward_moves: int = 10
    """Moves that this needs."""
    future_share: float = 0.50
    """Share of dates in the future that convicts."""
    stopped_expected: float = 20.0
    """Moves that must have been expected before it is said that they have stopped."""
    stopped_share: float = 0.10
    """Share of them that was seen at most."""
    stopped_days: float = 3.0
    """Days that must have passed."""
    gap_exposure: float = 0.15
    """Changes expected between two looks at a page, at most: more would hide one another."""
    gap_reads: int = 3
    """Reads between two looks, at most."""
    page_date_slack_seconds: int = 15 * 3_600
    """Difference between lastmod and a page's own date that is none."""
    page_date_min: int = 10
    """Pages with a date of their own that are needed."""
    page_date_share: float = 0.50
    """Upper bound of the share that agrees below which lastmod is convicted."""
    bulk_stamp_share: float = 0.20
    """Share of dates in one cluster that makes it a known bulk stamp, never held to be ahead."""
    safety_days: float = 60.0
    """A page of a trusted site is fetched after so long whatever its lastmod says."""
    budget_share: float = 1 / 7
    """Share of the pages that a plan by rates fetches."""
    sample: int = 30
    """Pages looked at in a read."""

    @classmethod
    def from_settings(cls, get: Callable[[str, Any], Any]) -> Thresholds:
        """What ``LASTMOD_*`` settings say; ``get`` gives a setting's value or a default.

        Raises :class:`ValueError` with one line that names the setting.
        """
        given: dict[str, Any] = {}
        for field in fields(cls):
            name, default = f"LASTMOD_{field.name.upper()}", getattr(DEFAULT, field.name)
            value = get(name, default)
            try:
                given[field.name] = type(default)(value)
                if given[field.name] < 0:
                    raise ValueError
            except (TypeError, ValueError):
                raise ValueError(f"{name}={value!r}: give a number, 0 or more") from None
        return cls(**given)


DEFAULT = Thresholds()


def as_markdown() -> str:
    """The page ``docs/lastmod-settings.md``: each threshold with what stands below it."""
    source = files("sitemap_discovery.trust").joinpath("thresholds.py").read_text(encoding="utf-8")
    (table,) = [
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef) and node.name == "Thresholds"
    ]
    lines = [
        "# Settings of the trust in lastmod",
        "",
        "Every threshold of [the rules](lastmod.md) is a setting. The page is written by",
        "`python -m sitemap_discovery.trust.thresholds > docs/lastmod-settings.md`.",
        "",
        "| setting | default | meaning |",
        "|---|---|---|",
    ]
    for node, below in zip(table.body, table.body[1:]):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            assert isinstance(below, ast.Expr)
            name = node.target.id
            meaning = ast.literal_eval(below.value)
            value = round(getattr(DEFAULT, name), 4)
            lines.append(f"| `LASTMOD_{name.upper()}` | {value} | {meaning} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(as_markdown(), end="")
