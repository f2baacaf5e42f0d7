"""Peak memory of the main job at 200,000 and at 1,000,000 URLs.

``python -m benchmarks.memory``; exit status 1 when a bound is missed.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.measure import crawl, lines, run, table
from benchmarks.site import Site

SIZE = 50_000
MOST_GROWTH, MOST_MB = 1.25, 260


def peak(files: int) -> tuple[float, float]:
    """Peak memory in MB and CPU seconds of a crawl of so many files."""
    with Site(files, SIZE) as site, tempfile.TemporaryDirectory() as name:
        cost = run(crawl(site.url, Path(name)))
        assert lines(Path(name) / "urls.jsonl") == files * SIZE
        return cost.memory, cost.cpu


def main() -> int:
    small, large = peak(4), peak(20)
    rows = [
        [f"{files * SIZE:,}", f"{memory:.0f} MB", f"{cpu / files / SIZE * 1e6:.1f} µs"]
        for files, (memory, cpu) in ((4, small), (20, large))
    ]
    print(table(["URLs", "peak memory", "CPU a URL"], rows))
    growth = large[0] / small[0]
    print(f"\ngrowth {growth:.2f} (≤ {MOST_GROWTH}), peak {large[0]:.0f} MB (≤ {MOST_MB} MB)")
    return int(growth > MOST_GROWTH or large[0] > MOST_MB)


if __name__ == "__main__":
    sys.exit(main())
