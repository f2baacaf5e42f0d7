"""When the first rows are in the inventory, and when the last file of an index is asked for.

``python -m benchmarks.early_rows``; exit status 1 when the rows come later.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measure import ROOT, crawl
from benchmarks.site import Site

FILES, SIZE = 12, 50_000


def first_rows(path: Path, process: subprocess.Popen[bytes]) -> float:
    """The time at which another process first sees a stored URL."""
    while process.poll() is None:
        if path.exists():
            try:
                with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
                    if database.execute("SELECT 1 FROM url LIMIT 1").fetchone():
                        return time.time()
            except sqlite3.OperationalError:
                pass  # the schema is not there yet
        time.sleep(0.01)
    raise SystemExit("the run ended without a row")


def main() -> int:
    with Site(FILES, SIZE) as site, tempfile.TemporaryDirectory() as name:
        process = subprocess.Popen(crawl(site.url, Path(name)), cwd=ROOT, stderr=subprocess.DEVNULL)
        stored = first_rows(Path(name) / "inventory.db", process)
        if process.wait():
            raise SystemExit(f"the run ended with {process.returncode}")
        # a complete run has asked for robots.txt, the index and every file, each once
        last = max(float(site.log.readline().split()[0]) for _ in range(FILES + 2))
    print(f"first rows stored {last - stored:.2f} s before the last of {FILES} files was asked for")
    return int(stored >= last)


if __name__ == "__main__":
    sys.exit(main())
