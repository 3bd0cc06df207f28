#!/usr/bin/env python3
"""Measures how far calculated small messages are from SimGrid: eight programs, each with contention `full` and `exact`.

Prints a row a program: medians of the makespans over some seeds, their difference, and how many runs warned.
With --check, fails unless every program agrees within the bound, or warns; one that agrees must not warn. Programs that
steal differ from seed to seed: what is beyond the bound but within two standard errors of the medians is noise.
Measures no wall time that it judges.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAMS = ("uts", "nqueens", "cholesky_metis", "cholesky_stealing", "stencil", "all_to_all", "incast", "ping_pong")


def experiment(program, nodes, seed, network):
    """The configuration of one run. Messages stay below 4 KiB, so that all of them are small."""
    steal = {"victim": "hierarchical", "amount": "half"}
    keep = {"victim": "none"}
    weights = f"bytes=1KiB,spread=0.5,seed={seed}"
    side = {16: 16, 64: 32}.get(nodes, 16)
    tiles = f"cholesky:tiles={20 if nodes <= 16 else 32},tile_size=16"
    cores, schedule, graph = {
        "uts": (4, {"stealing": {"victim": "lifeline", "amount": "half", "retries": 4}}, None),
        "nqueens": (4, {"stealing": steal}, None),
        "cholesky_metis": (1, {"placement": "metis", "stealing": keep}, tiles),
        "cholesky_stealing": (1, {"placement": "none", "stealing": steal}, tiles),
        "stencil": (1, {"placement": "metis", "stealing": keep},
                    f"stencil_2d:width={side},height={side},steps=20,flops=20kf,{weights}"),
        "all_to_all": (1, {"placement": "cyclic", "stealing": keep},
                       f"all_to_all:width={nodes},steps=10,flops=20kf,{weights}"),
        "incast": (1, {"placement": "cyclic", "stealing": keep},
                   f"incast:width={nodes},steps=20,flops=20kf,{weights}"),
        "ping_pong": (1, {"placement": "cyclic", "stealing": keep},
                      f"ping_pong:pairs={nodes // 2},steps=100,flops=20kf,{weights}"),
    }[program]
    workload = {"uts": {"name": "uts", "tree": "T1", "depth": 8}, "nqueens": {"name": "nqueens", "n": 10}}
    return {"name": program, "workload": workload.get(program, {"name": "dag", "graph": graph}),
            "platform": {"nodes": nodes, "cores": cores, "network": network},
            "schedule": schedule, "backend": "sim", "seed": seed}


def run(heddle, configuration):
    """What `heddle run --json` says."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        json.dump(configuration, file)  # JSON is YAML
        file.flush()
        done = subprocess.run([heddle, "run", file.name, "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{configuration['name']}: {done.stderr.strip()}")
    result = json.loads(done.stdout)
    if not result["ok"]:
        sys.exit(f"{configuration['name']}: wrong answer")
    return result


def compare(heddle, program, nodes, seeds, network):
    """One row: medians of both ways, their relative difference, warnings, wall time of each way."""
    makespans, medians, walls, warned = {}, {}, {}, 0
    for way in ("full", "exact"):
        began = time.monotonic()
        results = [run(heddle, experiment(program, nodes, seed, {**network, "contention": way}))
                   for seed in range(1, seeds + 1)]
        walls[way] = time.monotonic() - began
        makespans[way] = [result["makespan_seconds"] for result in results]
        medians[way] = statistics.median(makespans[way])
        if way == "full":
            warned = sum(bool(result["warnings"]) for result in results)
    off = medians["full"] / medians["exact"] - 1
    # The standard error of a median, where values are normal, is sqrt(pi / 2) of the mean's. A seed is a pair.
    pairs = [full - exact for full, exact in zip(makespans["full"], makespans["exact"])]
    error = math.sqrt(math.pi / 2 * statistics.variance(pairs) / seeds) if seeds > 1 else 0
    return {"program": program, "nodes": nodes, "full": medians["full"], "exact": medians["exact"], "off": off,
            "noise": error / medians["exact"], "warned": warned, "seeds": seeds, "wall": walls}


def verdict(row, bound):
    """A word for the table: whether the tool said what is the case."""
    agrees = abs(row["off"]) <= bound
    warned = 2 * row["warned"] > row["seeds"]
    if agrees:
        return "FALSE ALARM" if warned else "agrees"
    if warned:
        return "warned"
    return "noise" if abs(row["off"]) < 2 * row["noise"] else "OFF"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--heddle", default="build/release/heddle", help="the binary")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--nodes", type=int, nargs="+", default=[16, 64])
    parser.add_argument("--programs", nargs="+", default=PROGRAMS, choices=PROGRAMS)
    parser.add_argument("--topology", default="star")
    parser.add_argument("--bandwidth", default="100Gbps")
    parser.add_argument("--bound", type=float, default=0.02, help="the difference up to which medians agree")
    parser.add_argument("--check", action="store_true", help="fail where a program is off without a warning")
    options = parser.parse_args()
    network = {"topology": options.topology, "bandwidth": options.bandwidth, "latency": "1us"}
    good = True
    print(f"{options.topology}, {options.bandwidth}, {options.seeds} seeds")
    print(f"{'program':18} {'nodes':>5} {'full/us':>10} {'exact/us':>10} {'off':>7} {'noise':>6} {'warned':>6}  "
          f"{'wall/s':>6} {'exact':>6}")
    for nodes in options.nodes:
        for program in options.programs:
            row = compare(os.path.abspath(options.heddle), program, nodes, options.seeds, network)
            word = verdict(row, options.bound)
            good &= word != "OFF" and word != "FALSE ALARM"
            print(f"{program:18} {nodes:5} {1e6 * row['full']:10.1f} {1e6 * row['exact']:10.1f} "
                  f"{100 * row['off']:6.2f}% {100 * row['noise']:5.2f}% {row['warned']:3}/{row['seeds']:<3} {row['wall']['full']:6.1f} "
                  f"{row['wall']['exact']:6.1f}  {word}", flush=True)
    return 0 if good or not options.check else 1


if __name__ == "__main__":
    sys.exit(main())
