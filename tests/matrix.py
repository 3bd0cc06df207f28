"""For tests: runs programs natively and in simulation under every stealing policy; each run must give the known answer.
matrix_test.py runs small ones, matrix_slow_test.py all. The answers are those of the official UTS program, OEIS
A000170 and OEIS A000045.
"""

import json
import os
import subprocess
import sys
import tempfile

from script_arguments import script_arguments

UTS = {
    "T1": {"nodes": 4130071, "depth": 10, "leaves": 3305118},
    "T3": {"nodes": 4112897, "depth": 1572, "leaves": 3599034},
    "T4": {"nodes": 4132453, "depth": 134, "leaves": 3108986},
}
QUEENS = {8: 92, 9: 352, 10: 724, 11: 2680, 12: 14200, 13: 73712}
POLICIES = ("none", "random", "local_first", "hierarchical", "lifeline")

# name, workload settings, expected answer, long enough that idle processes find something to steal
# At its own price of a placement this takes 16 us, which is too short for a steal to be certain.
QUEENS_8 = ("nqueens 8", {"name": "nqueens", "n": 8, "unit_cost": "1kf"}, {"solutions": 92}, False)
SMALL = [
    ("fib 20", {"name": "fib", "n": 20}, {"value": 6765}, False),
    QUEENS_8,
    ("uts T1 depth 7", {"name": "uts", "tree": "T1", "depth": 7}, {"nodes": 63914, "depth": 7}, False),
    ("earth_fib 18", {"name": "earth_fib", "n": 18, "unit_cost": "200f"}, {"value": 4181}, False),
    ("earth_nqueens 8", {"name": "earth_nqueens", "n": 8, "unit_cost": "1kf"}, {"solutions": 92}, False),
]
WHOLE = (
    [("fib 30", {"name": "fib", "n": 30}, {"value": 832040}, False), QUEENS_8]
    + [(f"nqueens {n}", {"name": "nqueens", "n": n}, {"solutions": QUEENS[n]}, n >= 13) for n in QUEENS if n > 8]
    + [(f"uts {tree}", {"name": "uts", "tree": tree}, UTS[tree], True) for tree in UTS]
)

# name, backend, processes, cores
WORLDS = [
    ("native 1 process 1 worker", "native", 1, 1),
    ("native 1 process 2 workers", "native", 1, 2),
    ("native 2 processes", "native", 2, 1),
    ("native 4 processes", "native", 4, 1),
    ("simulated 1 x 1", "sim", 1, 1),
    ("simulated 4 x 2", "sim", 4, 2),
    ("simulated 64 x 4", "sim", 64, 4),
]


def arguments():
    return script_arguments("heddle")


def worlds():
    """The worlds of this build: without simulation, the native ones."""
    done = subprocess.run([arguments().heddle, "doctor", "--json"], capture_output=True, text=True, check=True)
    simulation = json.loads(done.stdout)["simulation"]
    return [world for world in WORLDS if world[1] == "native" or simulation]


def run(heddle, directory, workload, world, policy, amount="one", seed=1, extra=()):
    """One run's JSON. Raises RuntimeError where it fails."""
    _, backend, nodes, cores = world
    path = os.path.join(directory, "run.yaml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({  # JSON is YAML
            "name": "matrix",
            "workload": workload,
            "platform": {"nodes": nodes, "cores": cores},
            "schedule": {"stealing": {"victim": policy, "amount": amount}},
            "backend": backend,
            "seed": seed,
        }, file)
    command = [heddle, "run", path, "--json", *extra]
    if backend == "native" and nodes > 1:
        command = [heddle, "launch", "-n", str(nodes), "--", *command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {' '.join(command)}\n{done.stderr}")
    if done.stderr:
        raise RuntimeError(f"warnings: {' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)


def complaints(result, expected, world, policy, long):
    """What is wrong with a run's result, as text."""
    _, backend, nodes, cores = world
    wrong = []
    if not result["ok"]:
        wrong.append("not ok")
    for name, value in expected.items():
        if result["answer"].get(name) != value:
            wrong.append(f"{name} is {result['answer'].get(name)}, not {value}")
    steals = result["steals"]
    if sum(entry[2] for entry in steals["matrix"]) != steals["between_nodes"]:
        wrong.append(f"the steal matrix does not add up to {steals['between_nodes']}")
    if any(entry[0] == entry[1] or entry[2] <= 0 for entry in steals["matrix"]):
        wrong.append("a node stole from itself, or nothing")
    if policy == "none" and steals["within_node"] + steals["between_nodes"] != 0:
        wrong.append("tasks were stolen although no worker may steal")
    if policy != "none" and nodes > 1 and steals["between_nodes"] == 0 and (backend == "sim" or long):
        wrong.append("nothing was stolen between nodes")
    if policy != "none" and backend == "sim" and cores > 1 and policy != "random" and steals["within_node"] == 0:
        wrong.append("nothing was stolen within a node")
    return wrong


def run_matrix(programs, worlds, policies, amounts):
    options = arguments()
    failures, runs = [], 0
    with tempfile.TemporaryDirectory() as directory:
        for name, workload, expected, long in programs:
            for world in worlds:
                for policy in policies:
                    for amount in amounts if world[2] > 1 and policy != "none" else amounts[:1]:
                        label = f"{name}, {world[0]}, {policy}, {amount}"
                        runs += 1
                        try:
                            result = run(options.heddle, directory, workload, world, policy, amount)
                            wrong = complaints(result, expected, world, policy, long)
                        except (RuntimeError, subprocess.TimeoutExpired, ValueError, KeyError) as error:
                            wrong = [str(error)]
                        if wrong:
                            failures.append(label)
                            print(f"WRONG {label}: {'; '.join(wrong)}", flush=True)
            print(f"{name}: done, {runs} runs so far, {len(failures)} wrong", flush=True)
    return 1 if failures or runs == 0 else 0
