"""Tests the KAAPI paper's Figure 9. The partitioned program is faster than the stolen one at 8 and 16 cores, and the gap
grows from 2 cores on (docs/papers/kaapi.md). One seed of each cell runs. The partitioned time is that of the group,
without placing it once.
"""

import glob
import json
import os
import subprocess
import tempfile

from script_arguments import script_arguments


def seconds(arguments):
    """By loops, cores and placement."""
    file = os.path.join(arguments.source, "configs", "papers", "kaapi", "figure9.yaml")
    found = {}
    with tempfile.TemporaryDirectory() as results:
        subprocess.run([arguments.heddle, "compare", file, "--repeat", "1", "--out", results], capture_output=True, check=True, timeout=1700)
        for name in glob.glob(os.path.join(results, "**", "result.json"), recursive=True):
            with open(name, encoding="utf-8") as text:
                result = json.load(text)
            assert result["check"]["verdict"] == "right", name
            configuration = result["configuration"]
            placement = configuration["schedule"]["placement"]
            time = result["makespan_seconds"] if placement == "none" else result["answer"]["group_seconds"]
            found[int(configuration["workload"]["iterations"]), int(configuration["platform"]["cores"]), placement] = time
    return found


def main():
    found = seconds(script_arguments("heddle", "simulator"))
    for loops in (10, 20):
        alone = found[loops, 1, "none"]
        speedups = {cores: (alone / found[loops, cores, "none"], alone / found[loops, cores, "metis"]) for cores in (2, 4, 8, 16)}
        print(f"{loops} loops, stolen and partitioned:", ", ".join(f"{cores}: {stolen:.3f} {placed:.3f}" for cores, (stolen, placed) in speedups.items()))
        gaps = [placed - stolen for stolen, placed in speedups.values()]
        assert gaps == sorted(gaps) and gaps[0] > 0, gaps
        assert speedups[16][0] > 15, speedups


main()
