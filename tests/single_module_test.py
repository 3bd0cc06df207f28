"""Tests workloads of every kind on native nodes whose workers send and receive themselves (schedule.modules: single).
They give their known answers, under every policy that asks other nodes. A setting that does not exist is refused with
its place.
"""

import json
import os
import subprocess
import sys
import tempfile

from script_arguments import script_arguments

# Answers: EARTH's fib(0) is 1, the other's 0; OEIS A000170; the official UTS program (which the workload knows too).
KNOWN = (({"name": "earth_fib", "n": 22}, "value", 28657),
         ({"name": "fib", "n": 22}, "value", 17711),
         ({"name": "nqueens", "n": 9}, "solutions", 352),
         ({"name": "uts", "tree": "T1", "depth": 8}, "nodes", 257_042),
         ({"name": "dag", "graph": "cholesky:tiles=6"}, None, None))


def write(directory, workload, **sections):
    path = os.path.join(directory, "run.yaml")
    document = {"workload": workload, "backend": "native", "platform": {"nodes": 2, "cores": 2},
                "schedule": {"modules": "single"}}
    for name, keys in sections.items():
        document[name] = keys if isinstance(keys, str) else document.get(name, {}) | keys
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
    return path


def check_answers(heddle, directory):
    for workload, key, answer in KNOWN:
        for nodes, victim in ((2, "local_first"), (2, "none"), (3, "lifeline"), (3, "random")):
            path = write(directory, workload, platform={"nodes": nodes}, schedule={"stealing": {"victim": victim}})
            what = f"{workload['name']} on {nodes} nodes, {victim}"
            run = subprocess.run([heddle, "launch", "-n", str(nodes), "--", heddle, "run", path, "--json"],
                                 capture_output=True, text=True, timeout=120, check=False)
            if run.returncode != 0:
                sys.exit(f"{what}: exit {run.returncode}\n{run.stderr}")
            result = json.loads(run.stdout)
            if not result["ok"] or (key and result["answer"][key] != answer):
                sys.exit(f"{what}: {result['answer']}")
            if result["configuration"]["schedule"]["modules"] != "single":
                sys.exit(f"{what}: it ran with {result['configuration']['schedule']}")


def check_refusals(heddle, directory):
    cases = (({"platform": {"transport": "mpi"}}, "modules", "TCP"), ({"backend": "inprocess"}, "modules", "inprocess"),
             ({"transport": {"send": "sequence"}}, "send", "sender module"))
    for sections, key, part in cases:
        path = write(directory, {"name": "fib"}, **sections)
        with open(path, encoding="utf-8") as file:
            line = next(number for number, text in enumerate(file, 1) if f'"{key}"' in text)
        run = subprocess.run([heddle, "run", path], capture_output=True, text=True, timeout=60, check=False)
        if run.returncode != 2 or f"{path}:{line}:" not in run.stderr or part not in run.stderr:
            sys.exit(f"{sections}: exit {run.returncode}, {path}:{line} is not named:\n{run.stderr}")


if __name__ == "__main__":
    options = script_arguments("heddle")
    with tempfile.TemporaryDirectory() as where:
        check_answers(options.heddle, where)
        check_refusals(options.heddle, where)
