"""The KAAPI paper's Figure 6: each speedup of the new implementation within 10%, above the old one's from 4 cores on, and the old one's
of fib(35) falls from 8 to 16 cores (docs/papers/kaapi.md).
"""

import json
import os
import re
import subprocess
import tempfile

from script_arguments import script_arguments


def main():
    arguments = script_arguments("heddle")
    folder = os.path.join(arguments.source, "configs", "papers", "kaapi")
    files = [os.path.join(folder, f"figure6_fib{n}.yaml") for n in (35, 40)]
    with tempfile.TemporaryDirectory() as results:
        done = subprocess.run([arguments.heddle, "compare", *files, "--out", results, "--json"], capture_output=True, text=True, check=True, timeout=1800)
    speedups = {}
    for line in done.stdout.splitlines():
        for row in json.loads(line)["published"]:
            variant, cores = re.fullmatch(r"variant (\w+), cores (\d+)", row["cell"]).groups()
            speedups[row["what"], variant, int(cores)] = row["speedup"]
            print(f"{row['what']}, {row['cell']}: {row['speedup']:.2f}, published {row['published']}")
            if variant == "new" and row["published"]:
                assert abs(row["difference_percent"]) < 10, row
    assert len(speedups) == 20, done.stdout
    for what in ("fib(35)", "fib(40)"):
        for cores in (4, 8, 16):
            assert speedups[what, "new", cores] > speedups[what, "old", cores], (what, cores)
    assert speedups["fib(35)", "old", 16] < speedups["fib(35)", "old", 8]


main()
