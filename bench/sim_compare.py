#!/usr/bin/env python3
"""Runs the same tree search with `heddle run` and as a plain program of SimGrid actors (sim_actors_bench), one after the
other, and prints tables in Markdown: what either costs in wall time and memory, and whether both simulate the same.
It measures and prints; it does not judge, except that the tasks counted must be equal.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile

CONFIGURATION = """
workload: {name: uts, tree: T1, depth: 8, unit_cost: 10kf, check: none}
platform: {nodes: 16, cores: 4, core_speed: 10Gf, overheads: none, network: {topology: fat_tree, bandwidth: 100Gbps, latency: 1us}}
schedule: {placement: none, stealing: {victim: hierarchical, amount: half}}
backend: sim
"""

# Nodes, grain (with the kiloflops that take so long), depth of T1, repetitions.
# Repetition i has seed i: with a thousand nodes runs differ by a quarter in their messages.
COSTS = [(16, "1us", 10, 10, 3), (16, "0.1us", 1, 10, 1), (16, "10us", 100, 10, 1), (1000, "1us", 10, 10, 5)]
QUICK_COSTS = [(16, "1us", 10, 8, 3), (1000, "1us", 10, 7, 1)]

# Nodes, depth of T1.
MAKESPANS = [(16, 10), (1000, 10)]
QUICK_MAKESPANS = [(16, 7), (16, 8)]


TWO_THREADS = "heddle, 2 threads"


class Programs:
    def __init__(self, heddle, actors, file):
        self.commands = {"heddle": [heddle, "run", file, "--json", "--sim-threads", "1"],
                         TWO_THREADS: [heddle, "run", file, "--json", "--sim-threads", "2"],
                         "actors": [actors, file],
                         "sleeping actors": [actors, file, "--sleep"], "tree": [actors, file, "--sequential"]}

    def run(self, program, nodes, depth, kiloflops, seed):
        settings = {"platform.nodes": nodes, "workload.depth": depth, "workload.unit_cost": f"{kiloflops}kf", "seed": seed}
        command = self.commands[program] + [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
        run = json.loads(done.stdout)
        # Of the whole process and its helpers, from start to end: more than the wall time is about.
        run["cpu_seconds"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return run


def median_run(runs):
    return sorted(runs, key=lambda run: run["wall_seconds"])[len(runs) // 2]


def row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def header(*names):
    row(*names)
    row(*("---" for _ in names))


def compare_costs(programs, cells, two_threads):
    header("nodes x cores", "grain", "tasks", "program", "wall s", "tasks/s", "tasks/s, tree apart", "messages", "messages/s",
           "peak MB", "KB a worker", "CPU s", "times the wall", "tree apart", "times the CPU, tree apart")
    for nodes, grain, kiloflops, depth, repeats in cells:
        run = lambda program, seed: programs.run(program, nodes, depth, kiloflops, seed)
        names = ("heddle", *([TWO_THREADS] if two_threads else []), "actors", "sleeping actors")
        runs = {name: [] for name in names}
        for seed in range(1, repeats + 1):
            for name in names:  # in turn, so that a disturbance meets all of them
                runs[name].append(run(name, seed))
        tree = median_run([run("tree", 1) for _ in range(5)])
        heddle = median_run(runs["heddle"])
        in_tree = tree["wall_seconds"]
        for name in names:
            middle = median_run(runs[name])
            wall, tasks, memory = middle["wall_seconds"], middle["tasks"], middle["peak_memory_bytes"]
            apart = wall - in_tree
            cpu_ratio = (middle["cpu_seconds"] - in_tree) / (heddle["cpu_seconds"] - in_tree)
            row(f"{nodes} x 4", grain, tasks, name, f"{wall:.2f}", f"{tasks / wall:,.0f}", f"{tasks / apart:,.0f}",
                f"{middle['messages']:,}", f"{middle['messages'] / wall:,.0f}", f"{memory / 1e6:.0f}",
                f"{memory / 1e3 / (4 * nodes):.0f}", f"{middle['cpu_seconds']:.2f}", f"{wall / heddle['wall_seconds']:.1f}",
                f"{apart / (heddle['wall_seconds'] - in_tree):.1f}", f"{cpu_ratio:.1f}")
            for other in runs[name]:
                if other["answer"] != tree["answer"] or other["tasks"] != tree["tasks"]:
                    sys.exit(f"{name} counted {other['answer']} in {other['tasks']} tasks, the tree has {tree['answer']}")
        row(f"{nodes} x 4", grain, tree["tasks"], "the tree alone", f"{tree['wall_seconds']:.2f}",
            f"{tree['tasks'] / tree['wall_seconds']:,.0f}", *[""] * 9)


def compare_makespans(programs, cells, seeds):
    header("nodes x cores", "tasks", "program", "seeds", "median makespan us", "least", "most", "apart")
    for nodes, depth in cells:
        medians, tasks = {}, set()
        for program in ("heddle", "actors"):
            runs = []
            for seed in range(1, seeds + 1):
                runs.append(programs.run(program, nodes, depth, 10, seed))
                print(f"{program}, {nodes} x 4, seed {seed}: {runs[-1]['makespan_seconds'] * 1e6:.1f} us", file=sys.stderr)
            makespans = sorted(run["makespan_seconds"] * 1e6 for run in runs)
            tasks |= {run["tasks"] for run in runs}
            medians[program] = statistics.median(makespans)
            apart = "" if program == "heddle" else f"{100 * (medians['actors'] / medians['heddle'] - 1):+.2f}%"
            row(f"{nodes} x 4", runs[0]["tasks"], program, seeds, f"{medians[program]:.1f}", f"{makespans[0]:.1f}",
                f"{makespans[-1]:.1f}", apart)
        if len(tasks) != 1:
            sys.exit(f"different numbers of tasks: {sorted(tasks)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", required=True, help="the binary of Heddle")
    parser.add_argument("--actors", required=True, help="the binary sim_actors_bench")
    parser.add_argument("--core", type=int, help="run everything on this core of the machine")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--quick", action="store_true", help="small trees: a minute instead of half an hour")
    parser.add_argument("--only", choices=["costs", "makespans"])
    arguments = parser.parse_args()
    if arguments.core is not None:
        os.sched_setaffinity(0, {arguments.core})
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(CONFIGURATION)
        file.flush()
        programs = Programs(arguments.heddle, arguments.actors, file.name)
        if arguments.only != "makespans":
            # The actors share the memory of their node without locks: SimGrid must run them in one thread.
            compare_costs(programs, QUICK_COSTS if arguments.quick else COSTS, arguments.core is None)
            print()
        if arguments.only != "costs":
            compare_makespans(programs, QUICK_MAKESPANS if arguments.quick else MAKESPANS, arguments.seeds)


if __name__ == "__main__":
    main()
