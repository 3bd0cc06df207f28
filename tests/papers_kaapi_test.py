"""The KAAPI paper's Figure 9: partitioned is above stolen at 8 and 16 cores, and the gap grows from 2 cores on (docs/papers/kaapi.md). One seed
of each cell.
"""

import json
import os
import subprocess
import tempfile
from collections import defaultdict

from script_arguments import script_arguments


def comparisons(arguments, *names):
    """What `heddle compare --json` says of each of these files."""
    folder = os.path.join(arguments.source, "configs", "papers", "kaapi")
    files = [os.path.join(folder, name) for name in names]
    with tempfile.TemporaryDirectory() as results:
        done = subprocess.run([arguments.heddle, "compare", *files, "--repeat", "1", "--out", results, "--json"], capture_output=True, text=True, check=True, timeout=280)
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_figure9(comparison):
    speedups = defaultdict(dict)
    for group in comparison["groups"]:
        for line in group["lines"]:
            assert line["failed"] == 0 and line["runs"] == 1, line
            cell = (group["values"]["variant"], int(group["values"]["platform.cores"]))
            speedups[cell][line["values"]["schedule.placement"]] = line["speedup"]["value"]
    for loops in ("10 loops", "20 loops"):
        gaps = [speedups[loops, cores]["metis"] - speedups[loops, cores]["none"] for cores in (2, 4, 8, 16)]
        print(f"{loops}: partitioned is above stolen by", ", ".join(f"{gap:.3f}" for gap in gaps))
        assert gaps == sorted(gaps) and gaps[0] > 0, gaps
        assert speedups[loops, 16]["none"] > 15, speedups


def main():
    check_figure9(comparisons(script_arguments("heddle"), "figure9.yaml")[0])


main()
