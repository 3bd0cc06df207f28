"""Tests the KAAPI paper's Figures 6 and 7. Each speedup of the new implementation is within 10%, and above the old one's
from 4 cores on. The old one's speedup of fib(35) falls from 8 to 16 cores. N queens is within 15%. For n = 23
processors work for all but 0.63% of the time (docs/papers/kaapi.md). No run of it is shorter than its lower bound.
"""

import json
import os
import re
import subprocess
import tempfile

import lower_bounds
from script_arguments import script_arguments


def comparisons(arguments, *names):
    """What `heddle compare --json` says of each of these files."""
    files = [os.path.join(arguments.source, "configs", "papers", "kaapi", name) for name in names]
    with tempfile.TemporaryDirectory() as results:
        done = subprocess.run([arguments.heddle, "compare", *files, "--out", results, "--json"], capture_output=True, text=True, check=True, timeout=1800)
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_figure6(arguments):
    speedups = {}
    for comparison in comparisons(arguments, "figure6_fib35.yaml", "figure6_fib40.yaml"):
        for row in comparison["published"]:
            variant, cores = re.fullmatch(r"variant (\w+), cores (\d+)", row["cell"]).groups()
            speedups[row["what"], variant, int(cores)] = row["speedup"]
            print(f"{row['what']}, {row['cell']}: {row['speedup']:.2f}, published {row['published']}")
            if variant == "new" and row["published"]:
                assert abs(row["difference_percent"]) < 10, row
    assert len(speedups) == 20, speedups
    for what in ("fib(35)", "fib(40)"):
        for cores in (4, 8, 16):
            assert speedups[what, "new", cores] > speedups[what, "old", cores], (what, cores)
    assert speedups["fib(35)", "old", 16] < speedups["fib(35)", "old", 8]


def check_figure7(arguments):
    [comparison] = comparisons(arguments, "figure7.yaml")
    lower_bounds.check("figure7.yaml", comparison)
    assert len(comparison["published"]) == 3
    for row in comparison["published"]:
        print(f"{row['what']}, {row['cell']}: {row['seconds']:.1f} s, published {row['published']}")
        assert abs(row["difference_percent"]) < 15, row
    [line] = [line for group in comparison["groups"] for line in group["lines"] if "23" in {**group["values"], **line["values"]}.values()]
    times = {name: seconds for name, seconds in line["counted"].items() if name.startswith("time_seconds_")}
    idle = 1 - times["time_seconds_working"] / sum(times.values())
    print(f"n = 23: {idle:.2%} of the time is no work")
    assert idle < 0.0063, times


def main():
    arguments = script_arguments("heddle", "simulator")
    check_figure6(arguments)
    check_figure7(arguments)


main()
