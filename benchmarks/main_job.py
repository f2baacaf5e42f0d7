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
    best: dict[str, float] = {}
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
                best[job] = min(cpu, best.get(job, cpu))
    ours = best["ours"]
    names = {
        "guide": "urllib + defusedxml, stores nothing",
        "stock": "stock SitemapSpider, feed only",
    }
    rows = [["sitemap_discovery, inventory and feed", f"{ours:.2f} s", "1", ""]]
    for job, bound in BOUNDS.items():
        rows.append([names[job], f"{best[job]:.2f} s", f"{ours / best[job]:.3f}", f"≤ {bound}"])
    print(table([f"{FILES} × {SIZE:,} URLs", "CPU", "ours / theirs", "bound"], rows))
    return int(any(ours / best[job] > bound for job, bound in BOUNDS.items()))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 3))
