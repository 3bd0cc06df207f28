"""For tests: runs the EARTH paper's listings as workloads on several numbers of nodes, natively and in simulation, with
single and with separate modules. The answers follow from the paper. They are fib(n) with fib(0) = fib(1) = 1 (OEIS
A000045, shifted), the sum of the nodes' numbers, and one addition for each critical section.
"""

import json
import subprocess
import sys
import tempfile

import matrix

FIB, THREADS, ROUNDS = {10: 89, 16: 1597}, 20, 3


def programs(nodes, n):
    return [({"name": "earth_fib", "n": n, "checked": True}, {"value": FIB[n]}),
            ({"name": "earth_reduction", "checked": True}, {"total": nodes * (nodes - 1) // 2}),
            ({"name": "earth_lock", "threads": THREADS, "rounds": ROUNDS, "checked": True}, {"total": THREADS * ROUNDS})]


def check(simulated, native, n):
    """Runs all on each number of nodes; returns an exit code."""
    heddle = matrix.arguments().heddle
    has_simulation = any(world[1] == "sim" for world in matrix.worlds())
    cells = [("sim", nodes) for nodes in simulated if has_simulation] + [("native", nodes) for nodes in native]
    wrong = 0
    with tempfile.TemporaryDirectory() as directory:
        for backend, nodes in cells:
            for modules in ("separate", "single"):
                for workload, expected in programs(nodes, n):
                    extra = ["--set", f"schedule.modules={modules}"]
                    try:
                        run = matrix.run(heddle, directory, workload, ("", backend, nodes, 2 if backend == "sim" else 1), "random", extra=extra)
                    except (RuntimeError, subprocess.TimeoutExpired) as error:
                        print(error)
                        wrong += 1
                        continue
                    answer = {key: run["answer"][key] for key in expected}
                    if answer != expected or run["check"]["verdict"] != "right":
                        print(f"{backend}, {nodes} nodes, {modules}: {json.dumps(workload)} gave {run['answer']}, not {expected}")
                        wrong += 1
    print(f"{len(cells) * 6} runs, {wrong} wrong")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit("see earth_listings_test.py and earth_listings_slow_test.py")
