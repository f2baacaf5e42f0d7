"""The summary of a run: short whatever happened, and nothing left out without a word."""

from __future__ import annotations

from sitemap_discovery.extensions.summary import MAX_LINES, Summary


def summary(lost: int, nothing: int) -> Summary:
    return Summary(
        state="partial",
        finish_reason="finished",
        cut_by="budget-files",
        origins=9,
        nothing_found=[f"https://{n}.example: robots.txt: http-404" for n in range(nothing)],
        files={"complete": 1, "failed": 2},
        urls=1_000,
        duplicates=3,
        emitted=10,
        changes={"new": 4},
        since={"changed": 5, "undated": 6},
        findings={f"code-{n}": n for n in range(9)},
        lost=[f"https://a.example/{n}.xml http-404" for n in range(min(lost, 20))],
        lost_count=lost,
        entries_lost=7,
        unread=8,
    )


def test_a_summary_is_short_whatever_happened() -> None:
    for lost in (0, 1, 3, 5, 6, 200):
        for nothing in (0, 1, 2, 3, 9):
            lines = summary(lost, nothing).lines()
            assert len(lines) <= MAX_LINES
            named = sum(line.startswith("  not whole https") for line in lines)
            rest = sum(int(line.split()[4]) for line in lines if line.startswith("  not whole …"))
            assert named + rest == lost


def test_the_rest_is_counted() -> None:
    text = "\n".join(summary(200, 9).lines())
    assert "  nothing   … and 7 more" in text
    assert "  lost      7 entries" in text
    assert "  not read  8 files" in text
