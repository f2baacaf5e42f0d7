"""CPU of the main job, inventory and feed included, against the guide's script and stock Scrapy.

``python -m benchmarks.main_job [ROUNDS]``; exit status 1 when a bound is missed.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.measure import ROOT, SCRAPY, crawl, lines, run, table
from benchmarks.site import Site

FILES, SIZE = 4, 50_000
BOUNDS = {"guide": 1.3, "stock": 0.13}


def main(rounds: int) -> int:
    costs: dict[str, list[float]] = {}
    with Site(FILES, SIZE) as site, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(rounds):
            for job in ("guide", "ours", "stock") if number < 2 else ("guide", "ours"):
                for old in folder.iterdir():
                    old.unlink()
                out = folder / "urls.jsonl"
                command = {
                    "guide": [sys.executable, str(ROOT / "benchmarks/guide.py"), site.url, str(out)],
                    "ours": crawl(site.url, folder),
                    "stock": [*SCRAPY, "runspider", str(ROOT / "benchmarks/stock.py"),
                              "-a", f"origin={site.url}", "-O", str(out)],
                }[job]  # fmt: skip
                cpu = run(command, cwd=ROOT if job == "ours" else folder).cpu
                assert lines(out) == FILES * SIZE, f"{job} wrote {lines(out)} rows"
                costs.setdefault(job, []).append(cpu)
    best = {job: min(runs) for job, runs in costs.items()}
    spread = {job: f"{min(runs):.2f}–{max(runs):.2f} s" for job, runs in costs.items()}
    ours = best["ours"]
    names = {
        "guide": "urllib + defusedxml, stores nothing",
        "stock": "stock SitemapSpider, feed only",
    }
    rows = [["sitemap_discovery, inventory and feed", f"{ours:.2f} s", spread["ours"], "1", ""]]
    for job, bound in BOUNDS.items():
        rows.append(
            [names[job], f"{best[job]:.2f} s", spread[job], f"{ours / best[job]:.3f}", f"≤ {bound}"]
        )
    head = [f"{FILES} × {SIZE:,} URLs", "CPU, best", "all runs", "ours / theirs", "bound"]
    print(table(head, rows))
    return int(any(ours / best[job] > bound for job, bound in BOUNDS.items()))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 5))
