"""CPU of a second run over a site in which nothing changed, against that of the first.

``python -m benchmarks.second_run [ROUNDS]``; exit status 1 when a bound is missed.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.measure import crawl, lines, run, table
from benchmarks.site import Site

FILES, SIZE = 4, 50_000
BOUNDS: Final = {"ETag": 0.25, "bytes only": 0.35}


def main(rounds: int) -> int:
    rows, missed = [], False
    for name, bound in BOUNDS.items():
        first, again, whole = [], [], []
        with Site(FILES, SIZE, etags=name == "ETag") as site:
            for _ in range(rounds):
                with tempfile.TemporaryDirectory() as folder:
                    path = Path(folder)
                    first.append(run(crawl(site.url, path)).cpu)
                    again.append(run(crawl(site.url, path, "-a", "emit=changes")).cpu)
                    assert lines(path / "urls.jsonl") == 0
                    whole.append(run(crawl(site.url, path)).cpu)
                    assert lines(path / "urls.jsonl") == FILES * SIZE
        ratio = min(again) / min(first)
        missed = missed or ratio > bound
        rows.append(
            [name, f"{min(first):.2f} s", f"{min(again):.2f} s", f"{ratio:.2f}", f"≤ {bound}",
             f"{min(whole) / min(first):.2f}"]
        )  # fmt: skip
    head = [f"{FILES} × {SIZE:,} URLs, unchanged by", "first run", "second, emit=changes",
            "of the first", "bound", "with every row fed"]  # fmt: skip
    print(table(head, rows))
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 3))
