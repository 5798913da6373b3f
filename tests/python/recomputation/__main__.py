"""Compare scenarios from FIRST up to LAST, -1 the written one: `python -m recomputation FIRST LAST`."""

import sys
import tempfile
from pathlib import Path

from . import compare, draw, runs


def main() -> int:
    """Print every deviation beyond what its column allows; return 1 if there is one."""
    first, last = map(int, sys.argv[1:3])
    found = 0
    for seed in range(first, last):
        for one in deviations(seed):
            found += 1
            print(seed, one, flush=True)
    return 1 if found else 0


def deviations(seed: int) -> list[compare.Deviation]:
    """Return the deviations of one scenario."""
    with tempfile.TemporaryDirectory() as folder:
        run = runs.run(draw.scenario(seed), abs(seed), Path(folder))
        return [one for one in compare.deviations(run) if not one.is_allowed]


if __name__ == "__main__":
    sys.exit(main())
