"""Tests the HyFi paper's Table 2, rows Quad and Fib, by one command. Each cell is within 5% of the published speedup. If
that is above the number of processors, the number counts (docs/papers/hyfi.md).
"""

import json
import os
import re
import subprocess
import tempfile

from script_arguments import script_arguments


def main():
    arguments = script_arguments("heddle", "simulator")
    folder = os.path.join(arguments.source, "configs", "papers", "hyfi")
    files = [os.path.join(folder, name) for name in ("quadrature.yaml", "fib.yaml")]
    with tempfile.TemporaryDirectory() as results:
        done = subprocess.run([arguments.heddle, "compare", *files, "--out", results, "--json"], capture_output=True, text=True, check=True, timeout=1700)
    cells = 0
    for line in done.stdout.splitlines():
        for row in json.loads(line)["published"]:
            if not row["published"]:
                continue
            cells += 1
            processors = 1
            for count in re.findall(r"(?:nodes|cores) (\d+)", row["cell"]):
                processors *= int(count)
            expected = min(row["published"], processors)
            print(f"{row['what']}, {row['cell']}: {row['speedup']:.2f}, published {row['published']}")
            assert processors > 1 and abs(row["speedup"] / expected - 1) < 0.05, row
    assert cells == 16, done.stdout


main()
