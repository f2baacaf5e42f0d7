"""Every threshold of the rules, by the name of its setting without ``LASTMOD_``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where one verdict ends and the next begins. Shares are 0.0–1.0, times seconds or days."""

    cluster_seconds: int = 900
    """Stamps within so many seconds count as one."""
    clue_before_seconds: int = 3_600
    clue_after_seconds: int = 300
    """A stamp this long before, or after, the moment the file was built is that moment."""
    clue_fresh_seconds: int = 48 * 3_600
    """An HTTP Last-Modified older than this when the file is fetched is no clue."""
    cluster_share: float = 0.90
    track_share: float = 0.90
    """Shares of stamps in one cluster, and near the file's building, that show generation time."""
    min_stamps: int = 10
    min_date_only: int = 20
    absent_share: float = 0.05
    """Below this share of dated entries there are none to speak of."""
    zone_slack_seconds: int = 14 * 3_600
    bulk_moved: float = 0.80
    bulk_window: float = 0.90
    bulk_compared: int = 10
    """Moved share, share of new values in one cluster, and entries compared, of a bulk move."""
    strike_memory: int = 20
    strike_hold: int = 3
    """Reads for which an empty bulk move is remembered, and for which it holds trust back."""
    long_half_life: float = 20.0
    short_half_life: float = 3.0
    """Reads after which evidence weighs half, where it grants trust and where it takes it away."""
    min_moved: int = 5
    min_accused: int = 3
    min_hit_reads: int = 2
    min_reads: int = 3
    precision: float = 0.50
    precision_z: float = 1.645
    recall: float = 0.70
    recall_z: float = 1.96
    accuse_z: float = 1.645
    min_misses: float = 2.5
    stay_precision: float = 0.35
    stay_recall: float = 0.45
    stay_moved: float = 2.0
    """What is enough to stay trusted."""
    noise: float = 0.005
    """Changes per look at a page that did not change, allowed for when a site is accused."""
    burst_share: float = 0.80
    burst_looks: int = 5
    burst_free: int = 2
    """Share of unmoved pages, and looks, that make a new template; how many of them are void."""
    backward_share: float = 0.20
    backward_moves: int = 10
    future_share: float = 0.50
    stopped_expected: float = 20.0
    stopped_share: float = 0.10
    stopped_days: float = 3.0
    """Moves expected, share seen and days passed, after which moves have stopped."""
    gap_exposure: float = 0.15
    gap_reads: int = 3
    """Expected changes between two looks at a page, and reads, that they are apart at most."""
    page_date_slack_seconds: int = 15 * 3_600
    page_date_min: int = 10
    page_date_share: float = 0.50
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
