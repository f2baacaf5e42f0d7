"""Verdicts in words: one sentence for each reason, with its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_discovery.trust.numbers import numbers_of
from sitemap_discovery.trust.thresholds import DEFAULT, Thresholds

if TYPE_CHECKING:
    from sitemap_discovery.trust.verdict import PartState


def sentence_of(state: PartState, limits: Thresholds = DEFAULT) -> str:
    """Why a part's verdict is what it is."""
    return "; ".join(_reason(code, state, limits) for code in state.why) or "nothing was read yet"


def _reason(code: str, state: PartState, limits: Thresholds) -> str:
    n, long = numbers_of(state.long, limits), state.long
    facts = state.facts
    dated, track = facts.get("dated", 0), facts.get("track", 0.0)
    moved = f"{_count(long.hits)} of {_count(long.moved_looks)} pages whose lastmod moved"
    silent = (
        f"{_count(long.misses)} silent changes in {_count(long.looks)} looks over "
        f"{_count(long.exposure)} page-days"
    )
    few = "too few looks at pages whose lastmod did not move"
    sentences = {
        "coverage": f"{dated:,} of {state.size:,} URLs have a date",
        "one-stamp-near-generation": (
            f"{track:.0%} of {dated:,} dates lie near the moment the file was built, and "
            f"{state.cluster:.0%} within {limits.cluster_seconds // 60} minutes of one another"
        ),
        "bulk-moves-without-change": (
            "nearly all dates moved together, and the pages looked at had not changed"
        ),
        "unstable": f"{_count(long.backward)} of {_count(long.moves)} moves went back",
        "over-reports": f"only {moved} had changed (at most {n.precision_most:.0%})",
        "under-reports": f"{silent}: at most {n.recall_most:.0%} of changes move lastmod",
        "future": f"{state.future:.0%} of dates lie in the future",
        "page-dates-behind": (
            f"{state.page_dates.behind} pages give a newer date of their own, "
            f"{state.page_dates.agree} agree"
        ),
        "page-dates-ahead": (
            f"{state.page_dates.ahead} pages give an older date of their own, "
            f"{state.page_dates.agree} agree"
        ),
        "recent-bulk-move": "all dates moved lately without a change: it is watched for some reads",
        "lately-over-reports": "of the pages whose lastmod moved lately few had changed",
        "lately-under-reports": "pages have changed lately whose lastmod did not move",
        "moves-stopped": (
            f"{_count(state.seen)} moves in {state.quiet_days:.0f} days, where "
            f"{_count(state.expected)} were expected"
        ),
        "evidence-ran-out": "what proved it is too old now: look at pages again",
        "still-holds": (
            f"{moved} had changed, at least {n.recall_least:.0%} of changes are reported"
        ),
        "precision-and-recall-shown": (
            f"{moved} had changed (at least {n.precision_least:.0%} with 95 % confidence); "
            f"{silent}, where {n.value:.0f} would be expected if half of all changes were silent; "
            f"so at least {n.recall_least:.0%} of changes are reported"
        ),
        "site-trusted": "too little was seen of it alone, and the rest of the site is trusted",
        "parts-trusted": "nearly all URLs are in parts that are trusted",
        "parts-differ": "some parts are trusted and others are not",
        "too-few-reads": f"{_times(state.reads, 'read')} of {limits.min_reads}",
        "too-few-moves-checked": (
            f"{_count(long.moved_looks)} of {limits.min_moved} looks at pages whose lastmod moved"
        ),
        "hits-in-one-read": "changes were confirmed in one read only",
        "precision-not-shown": (
            f"{moved} had changed: at least {n.precision_least:.0%}, "
            f"{limits.precision:.0%} are needed"
        ),
        "recall-not-shown": (
            f"{silent if long.misses >= 0.5 else few}: at least {n.recall_least:.0%} of changes "
            f"are reported, {limits.recall:.0%} are needed"
        ),
    }
    return sentences.get(code, code)


def _count(number: float) -> str:
    """A decayed count: whole where it is, or large."""
    return f"{number:,.0f}" if number >= 10 or number == int(number) else f"{number:.1f}"


def _times(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
