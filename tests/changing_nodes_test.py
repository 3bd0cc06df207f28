"""Tests programs of several execution models whose nodes change: two nodes begin, and two join while the program runs.
Each program is one file and runs in simulation and natively. The answers are right. Programs that need the same nodes are
refused.
"""

import json
import os
import subprocess
import tempfile

from outside_a_job import ENVIRONMENT
from script_arguments import script_arguments

PROGRAMS = [
    {"name": "uts", "tree": "T1", "depth": 8},
    {"name": "dataflow_cholesky"},
    *({"name": "map_viewer", "width": 2400, "height": 2400, "factor": 4, "carrier": carrier} for carrier in ("endpoints", "dispatcher")),
    {"name": "ping_pong", "pairs": 5},
]
DIVIDED_AMONG_ALL = [
    *({"name": name} for name in ("collective", "adaptive", "atgc", "earth_lock", "earth_reduction")),
    {"name": "jacobi", "n": 64},
]


def main():
    arguments = script_arguments("heddle", "simulator")
    joined = 0
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "run.yaml")
        for workload in PROGRAMS + DIVIDED_AMONG_ALL:
            events = [{"at": "200us", "node": node, "member": True} for node in (2, 3)]
            platform = {"nodes": 4, "nodes_at_start": 2, "cores": 1, "events": events}
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"workload": workload, "platform": platform}, file)
            for backend in ("sim", "native"):
                command = [arguments.heddle, "run", path, "--backend", backend, "--json"]
                if backend == "native":
                    command = [arguments.heddle, "launch", "-n", "2", "--capacity", "4", "--", *command]
                done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=ENVIRONMENT)
                if workload in DIVIDED_AMONG_ALL:
                    assert done.returncode == 2 and "the same nodes from the beginning" in done.stderr, (workload, backend, done)
                    continue
                assert done.returncode == 0, f"{workload} {backend}: {done.stderr}"
                result = json.loads(done.stdout)
                assert result["ok"], result
                if backend == "sim":
                    joined += sum(1 for member in result.get("members", []) if member["node"] >= 2)
    assert joined >= 2, "no node has joined: the test shows nothing"


main()
