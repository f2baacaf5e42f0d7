"""How often the verdict is right after so many reads, for every behaviour of a site.

``python -m benchmarks.lastmod --sites 20 --samples 30``; exit status 1 when trust is given falsely
to one site in a hundred.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from benchmarks.lastmod.play import Player
from benchmarks.lastmod.sites import RIGHT, SPEEDS, TRUSTWORTHY
from benchmarks.measure import table

CHECKED = (1, 2, 5, 10, 20, 30)
FAIR = (*TRUSTWORTHY, "deploy_plus")
"""Where trust is no fault: between two deploys ``deploy_plus`` tells the truth."""

FIRST_SEED = 70_000
"""Seeds below were used while the rules were written."""


def play(
    behaviour: str, speed: str, sample: int, sites: int, reads: int
) -> dict[str, Counter[int]]:
    """At which reads how many sites had the right verdict, or trust that they do not deserve."""
    counts: dict[str, Counter[int]] = {"right": Counter(), "false trust": Counter()}
    counts["false distrust"] = Counter()
    for seed in range(FIRST_SEED, FIRST_SEED + sites):
        player, ever = Player(behaviour, speed, seed, sample), False
        for read in range(1, reads + 1):
            verdict = player.read()
            flipped = not behaviour.startswith("flip") or read > 6
            counts["right"][read] += flipped and verdict in RIGHT[behaviour]
            wrong = verdict == "trusted" and behaviour not in FAIR and flipped
            if read == 10 and behaviour in TRUSTWORTHY:
                counts["false distrust"][0] += verdict in ("untrusted", "absent")
            late = not behaviour.startswith("flip_frozen") or read > 10
            ever = ever or (wrong and late)
        counts["false trust"][0] += ever
        player.close()
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lastmod")
    parser.add_argument("--sites", type=int, default=10)
    parser.add_argument("--reads", type=int, default=30)
    parser.add_argument("--samples", type=int, nargs="+", default=[30])
    parser.add_argument("--behaviours", nargs="+", default=list(RIGHT))
    asked = parser.parse_args()
    checked = [read for read in CHECKED if read <= asked.reads]
    heads = [f"n={n} {speed}" for n in asked.samples for speed in SPEEDS]
    rows, false, total, distrust = [], 0, 0, 0
    for behaviour in asked.behaviours:
        row = [behaviour]
        for sample in asked.samples:
            for speed in SPEEDS:
                counts = play(behaviour, speed, sample, asked.sites, asked.reads)
                shares = [f"{100 * counts['right'][read] / asked.sites:.0f}" for read in checked]
                wrong = counts["false trust"][0]
                row.append(" ".join(shares) + (f" (falsely trusted {wrong})" if wrong else ""))
                false, total = false + wrong, total + asked.sites
                distrust += counts["false distrust"][0]
        rows.append(row)
        print(" | ".join(row), file=sys.stderr, flush=True)
    print(table(["% right after " + " ".join(map(str, checked)) + " reads", *heads], rows))
    print(f"\nfalse trust ever: {false} of {total} sites; false distrust at read 10: {distrust}")
    return int(false >= 0.01 * total)


if __name__ == "__main__":
    sys.exit(main())
