"""Child processes measured from outside, and tables of what they took."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
SCRAPY = [sys.executable, "-m", "scrapy.cmdline"]


@dataclass(frozen=True)
class Cost:
    """CPU seconds (user and system, process start included) and peak memory in MB."""

    cpu: float
    memory: float


def run(command: list[str], *, cwd: Path = ROOT, allowed: tuple[int, ...] = (0,)) -> Cost:
    """Run a command to its end; raises when it exits with another status than allowed."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(
        command, cwd=cwd, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    log = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in allowed:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}:\n{log.decode()}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def best_times(works: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """CPU seconds of each work's best run; they take turns, as a machine has slow moments."""
    times = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            start = time.process_time()
            work()
            times[name] = min(times[name], time.process_time() - start)
    return times


def crawl(origin: str, folder: Path, *extra: str) -> list[str]:
    """Our main job without pauses, its inventory and feed in ``folder``."""
    settings = [
        f"INVENTORY_URL=sqlite:///{folder}/inventory.db",
        "DOWNLOAD_DELAY=0",
        "AUTOTHROTTLE_ENABLED=0",
    ]
    flags = [flag for setting in settings for flag in ("-s", setting)]
    feed = ["-O", f"{folder}/urls.jsonl"]
    return [*SCRAPY, "crawl", "sitemaps", "-a", f"origin={origin}", *feed, *flags, *extra]


def lines(path: Path) -> int:
    """Lines of a file."""
    with path.open("rb") as stream:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: stream.read(1 << 20), b""))


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    body = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in body)
