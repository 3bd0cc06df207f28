#!/usr/bin/env python3
"""Measures Heddle on real cores and comparable libraries, the peers (peers/). It runs all programs in turn, several
times, and prints medians and their ratios as tables in Markdown. It does not judge the times, but every answer must
be right.

usage: bench/native/compare.py [--build build/release] [--only fork_join,messages] [--json FILE]
"""

import argparse
import functools
import itertools
import os
import sys

from dataflow_groups import dataflow, kastors
from measure import Bench, Found, NotThere, medians, ratio, read_runs, table
from message_groups import collectives, memory, messages, messaging
from overlap_group import overlap


# --- fork/join

PEERS = {"Heddle": "heddle_fork_join", "oneTBB": "peer_tbb_tasks", "libgomp": "peer_openmp_tasks"}


def spawns_of_fib(n):
    """The calls that are no base cases, each of which forks once: fib(n + 1) - 1."""
    previous, value = 0, 1
    for _ in range(n):
        previous, value = value, previous + value
    return value - 1


def fork_join(bench):
    problems = [("fib", 38, 39088169), ("uts", "T1", 4130071), ("uts", "T3", 4112897), ("queens", 12, 14200),
                ("queens_bytes", 12, 14200), ("queens", 13, 73712), ("queens_bytes", 13, 73712)]
    if bench.quick:
        problems = [("fib", 30, 832040), ("queens", 10, 724), ("queens_bytes", 10, 724), ("uts", "T1", 4130071)]
    print("\n### Fork/join\n")
    row = table("problem", "program", "T1 s", "CPU s", "ns a spawn", "T1 / Ts", "of CPU s", "/ Heddle's CPU s", "T2 s", "Ts / T2",
                "T1 / T2", "peak MB, 1 and 2 workers")
    for kind, size, expected in problems:
        cases = {"sequential": ((), ("peer_sequential", kind, size, 1))}
        right = {"sequential": expected}
        for name, workers in itertools.product(PEERS, (1, 2)):
            smaller = kind == "fib" and name != "Heddle"
            cases[name, workers] = ((), (PEERS[name], kind, size - 6 if smaller else size, workers))
            right[name, workers] = spawns_of_fib(size - 7) + 1 if smaller else expected
        found = bench.alternate("fork_join", cases, right)
        if kind == "fib":
            # The peers take seconds for it: they do a smaller one, and their times are scaled by the spawns.
            for name, said in found.items():
                if name != "sequential" and name[0] != "Heddle":
                    for key in "seconds", "cpu_seconds":
                        said[key] *= spawns_of_fib(size) / spawns_of_fib(size - 6)
        alone = found["sequential"]
        row(f"{kind}({size})", "sequential", f"{alone['seconds']:.4f}", f"{alone['cpu_seconds']:.4f}", *[""] * 7,
            f"{alone['peak_mb']:.1f}")
        for name in PEERS:
            if (name, 1) not in found:
                continue
            one, two = found[name, 1], found[name, 2]
            spawn = f"{one['cpu_seconds'] * 1e9 / spawns_of_fib(size):.2f}" if kind == "fib" else ""
            row("", name, f"{one['seconds']:.4f}", f"{one['cpu_seconds']:.4f}", spawn, ratio(one["seconds"], alone["seconds"]),
                ratio(one["cpu_seconds"], alone["cpu_seconds"]),
                ratio(one["cpu_seconds"], found["Heddle", 1]["cpu_seconds"], 1), f"{two['seconds']:.4f}",
                ratio(alone["seconds"], two["seconds"]), ratio(one["seconds"], two["seconds"]),
                f"{one['peak_mb']:.1f}, {two['peak_mb']:.1f}")


def processes(bench):
    """Two processes that steal from each other over TCP, a worker each, against one of one worker."""
    problems = [("queens", 13, 73712), ("uts", "T3", 4112897)]
    if bench.quick:
        problems = [("queens", 10, 724)]
    print("\n### Two processes over TCP, a worker each\n")
    row = table("problem", "one process s", "two, hierarchical s", "one / two", "two, lifeline s", "one / two")
    for kind, size, expected in problems:
        found = bench.alternate("processes", {
            "one": ((), ("heddle_fork_join", kind, size, 1)),
            **{victim: ((), ("heddle_fork_join", kind, size, 1, 2, victim)) for victim in ("hierarchical", "lifeline")}}, expected)
        one, *two = (said["seconds"] for said in found.values())
        row(f"{kind}({size})", f"{one:.4f}", *(text for each in two for text in (f"{each:.4f}", ratio(one, each))))


def gate(bench):
    """What the tests on the path of a local task cost."""
    n, expected = (30, 832040) if bench.quick else (38, 39088169)
    found = bench.alternate("gate", {
        "as it is": ((), ("heddle_fork_join", "fib", n, 1)),
        "without the test whether work is charged": ((), ("heddle_no_charge", "fib", n, 1)),
        "without any gate": ((), ("heddle_no_gate", "fib", n, 1))}, expected)
    print(f"\n### The gate: fib({n}), one worker\n")
    row = table("gate", "s", "CPU s", "ns a spawn", "CPU s: as it is / this")
    for name, said in found.items():
        row(name, f"{said['seconds']:.4f}", f"{said['cpu_seconds']:.4f}", f"{said['cpu_seconds'] * 1e9 / spawns_of_fib(n):.2f}",
            ratio(found["as it is"]["cpu_seconds"], said["cpu_seconds"]))


# --- graphs

def graph(bench):
    width, steps = (1000, 100) if bench.quick else (1000, 10000)
    print(f"\n### A graph of {width * steps:,} empty tasks with two dependencies each\n")
    cases = {}
    for workers in 1, 2:
        for order in "strict", "ready":
            cases[f"Heddle, {order}", workers] = ((), ("heddle_graph", "pair", width, steps, workers, 0, order))
        cases["libgomp, depend", workers] = ((), ("peer_openmp_graph", "pair", width, steps, workers, 0))
        # A tenth: its nodes are large.
        cases["oneTBB flow graph", workers] = ((), ("peer_tbb_graph", "pair", width, steps // 10, workers, 0))
    found = bench.alternate("graph", cases)
    row = table("program", "ns a task, 1 worker", "of CPU time", "2 workers: ns of time a task", "T1 / T2", "tasks", "peak MB")
    for name in dict.fromkeys(name for name, _ in found):
        one, two = found[name, 1], found[name, 2]
        per_task = [said["seconds"] / said["tasks"] * 1e9 for said in (one, two)]
        row(name, f"{per_task[0]:.0f}", f"{one['cpu_seconds'] / one['tasks'] * 1e9:.0f}", f"{per_task[1]:.0f}", ratio(*per_task), f"{one['tasks']:,.0f}", f"{one['peak_mb']:.0f}")


def metg(bench):
    """The smallest average time of a task, tasks times workers into wall time, at which half of the processors' time is
    useful work (Slaughter et al., SC20, section 4). The grain is bisected, in steps of the kernel."""
    # libgomp gets fewer: what it spends on a task grows with the tasks that wait (a chain: 7 us of 1,000, 73 of 5,000).
    few, many = (1_000, 5_000) if bench.quick else (1_000, 50_000)
    print("\n### METG(50%)\n")
    row = table("pattern", "program", "tasks", "workers", "tasks a step and worker", "METG(50%) us", "efficiency there")
    programs = {"Heddle, strict": ("heddle_graph", ["strict"]), "Heddle, ready": ("heddle_graph", ["ready"]),
                "libgomp, depend": ("peer_openmp_graph", []), "oneTBB flow graph": ("peer_tbb_graph", [])}
    programs = {name: program for name, program in programs.items() if bench.has(program[0])}
    for pattern, each, workers in itertools.product(("stencil", "trivial"), (1, 8), (1, 2)):
        if pattern == "trivial" and each != 1:
            continue  # the same tasks
        for name, (program, words) in programs.items():
            tasks = few if program == "peer_openmp_graph" else many

            @functools.lru_cache(None)
            def runs(work):
                width = workers * each
                command = (program, pattern, width, tasks // width, workers, work, *words)
                return bench.all_runs("metg", {name: ((), command)})[name]

            def measured(work, of=medians):
                """(efficiency, microseconds of a task)"""
                said = of(runs(work))
                grain = said["seconds"] * workers / said["tasks"]
                return work * said["step_ns"] * 1e-9 / grain, grain * 1e6

            low, high, most = 1, 64, 1 << 16
            while measured(high)[0] < 0.5 and high < most:
                low, high = high, high * 4
            while measured(high)[0] >= 0.5 and high / low > 1.15 and low + 1 < high:
                middle = round((low * high) ** 0.5)
                low, high = (low, middle) if measured(middle)[0] >= 0.5 else (middle, high)
            efficiency, grain = measured(high, bench.shown)
            row(pattern, name, f"{tasks:,}", workers, each, f"{'more than ' if efficiency < 0.5 else ''}{grain:.2f}", f"{efficiency:.2f}")


# --- idle

def idle(bench):
    print("\n### Idle workers\n")
    cases = {f"{workers} workers, {nodes} processes": ((), ("heddle_idle", "cpu", workers, nodes))
             for workers, nodes in ((2, 1), (1, 2), (8, 1))}
    found = bench.alternate("idle", cases)
    row = table("of which one sleeps in its task", "% of a core, all together", "% of a core, the process with the most")
    for name, said in found.items():
        row(name, f"{said['cores'] * 100:.2f}", f"{said['most'] * 100:.2f}")
    count = 20 if bench.quick else 200
    found = bench.alternate("wake", {f"{workers} workers": ((), ("heddle_idle", "wake", workers, count)) for workers in (2, 4)})
    print()
    row = table("from a fork until another worker begins the task", "median us", "90% us", "99% us", "never taken, of " + str(count))
    for name, said in found.items():
        row(name, f"{said['median_us']:.1f}", f"{said['p90_us']:.1f}", f"{said['p99_us']:.1f}", f"{said['missed']:.0f}")


# --- strands

def strands(bench):
    print("\n### Strands, on one worker\n")
    share = 20 if bench.quick else 1
    row = table("operation", "Heddle ns", "Boost.Fiber ns", "Boost.Context ns", "Boost.Fiber / Heddle", "Heddle / Boost.Context")
    for what, count, heddle, fiber in (("switch", 20_000_000, "switch", "switch"),
                                       ("start, run and end", 1_000_000, "create", "create"),
                                       ("round trip over two channels", 2_000_000, "channel", "channel")):
        cases = {"Heddle": ((), ("heddle_strands", heddle, count // share)), "Boost.Fiber": ((), ("peer_boost_fiber", fiber, count // share))}
        if what == "switch":
            cases["Boost.Context"] = ((), ("peer_boost_context", count // share))
        found = Found({name: said["ns"] for name, said in bench.alternate("strands", cases).items()})
        of = found.get
        row(what, f"{found['Heddle']:.1f}", f"{of('Boost.Fiber', 0):.1f}", f"{of('Boost.Context', 0):.1f}",
            ratio(of("Boost.Fiber"), found["Heddle"]), ratio(found["Heddle"], of("Boost.Context")))
    exchanges = 200_000 // share
    found = bench.alternate("strands", {"two workers": ((), ("heddle_strands", "workers", exchanges)),
                                        "bare threads that look": ((), ("peer_thread_exchange", "line", exchanges)),
                                        "bare threads that sleep": ((), ("peer_thread_exchange", "futex", exchanges // 10)),
                                        "barrier": ((), ("heddle_strands", "barrier", exchanges)),
                                        "OpenMP": ((), ("peer_openmp_barrier", exchanges)),
                                        "memory": ((), ("heddle_strands", "memory", 20_000))})
    ns = Found({name: said.get("ns") for name, said in found.items()})
    print(f"\nRound trip between strands on two workers: {ns['two workers']:.0f} ns; of two bare threads {ns['bare threads that look']:.0f} ns "
          f"if they look all the time, {ns['bare threads that sleep']:.0f} ns if they sleep. "
          f"Barrier of two workers: {ns['barrier']:.0f} ns; OpenMP's {ns.get('OpenMP', 0):.0f} ns. "
          f"Resident, of 20,000 that wait: {found['memory']['bytes'] / 1024:.1f} KiB each.")


def faults(bench):
    """Accesses that pages do not permit, without messages, beside a bare signal handler with the same system calls."""
    print("\n### Faults of shared memory, without messages\n")
    count = 20_000 if bench.quick else 400_000
    row = table("trigger", "access", "Heddle us", "bare handler us", "Heddle / bare", "taking it back us", "bare us")
    for trigger in "userfaultfd", "mprotect":
        for access in "read", "write":
            found = bench.alternate("faults", {"Heddle": ((), ("heddle_faults", trigger, access, count)),
                                               "bare": ((), ("peer_bare_faults", trigger, access, count))})
            ours, bare = found["Heddle"], found["bare"]
            row(trigger, access, f"{ours['ns'] / 1000:.2f}", f"{bare['ns'] / 1000:.2f}", ratio(ours["ns"], bare["ns"]),
                f"{ours['revoke_ns'] / 1000:.2f}", f"{bare['revoke_ns'] / 1000:.2f}")


def jacobi(bench):
    """Jacobi's iteration on one node. Processor time, because the wall time of one worker is also that of its neighbours."""
    n, sweeps = (256, 50) if bench.quick else (1024, 200)
    print(f"\n### Jacobi, {n} x {n} points, {sweeps} sweeps\n")
    row = table("workers", "program", "s", "CPU s", "/ libgomp's s", "/ libgomp's CPU s")
    for workers in 1, 2:
        cases = {"libgomp": ((), ("peer_openmp_jacobi", n, sweeps, workers))}
        for (name, trigger), (way, points) in itertools.product((("Heddle, by hardware", "automatic"), ("Heddle, rows declared", "checked")),
                                                                (("", "alone"), (", neighbours together", "together"))):
            cases[name + way] = ((), ("heddle_jacobi", trigger, points, n, sweeps, workers))
        found = bench.alternate("jacobi", cases)
        peer = found.get("libgomp", {"seconds": 0, "cpu_seconds": 0, "value": None})
        for name, said in found.items():
            if peer["value"] not in (None, said["value"]):
                sys.exit(f"{name}: the grid's sum is {said['value']}, and libgomp's {peer['value']}")
            row(workers, name, f"{said['seconds']:.3f}", f"{said['cpu_seconds']:.3f}", ratio(said["seconds"], peer["seconds"]),
                ratio(said["cpu_seconds"], peer["cpu_seconds"]))


def remote_faults(bench):
    """Reads of pages that another process has written, beside a fault without a message and two round trips of plain sockets."""
    count = 5_000 if bench.quick else 50_000
    print("\n### Read faults on another process's pages\n")
    ways = list(itertools.product(("auto", "block"), ("memory", "unix", "tcp")))
    cases = {way: ((), ("heddle_remote_faults", count, *way)) for way in ways}
    cases["fault"] = ((), ("heddle_faults", "userfaultfd", "read", 10 * count))
    cases["round trip"] = ((), ("peer_socket_messages", "latency", 16, count, "answer=4096"))
    found = bench.alternate("remote_faults", cases)
    round_trip = 2 * found["round trip"]["one_way_us"]
    bar = found["fault"]["ns"] / 1000 + 2 * round_trip
    row = table("receivers", "through", "Heddle us", "a fault and 2 round trips us", "Heddle / these")
    for receive, local in ways:
        ours = found[receive, local]["ns"] / 1000
        row(receive, local, f"{ours:.1f}", f"{found['fault']['ns'] / 1000:.1f} + 2 x {round_trip:.1f}", ratio(ours, bar))


GROUPS = {"fork_join": fork_join, "processes": processes, "gate": gate, "graph": graph, "messages": messages, "memory": memory, "idle": idle, "metg": metg, "strands": strands, "faults": faults, "remote_faults": remote_faults, "jacobi": jacobi, "dataflow": dataflow, "kastors": kastors, "collectives": collectives, "messaging": messaging, "overlap": overlap}


# Groups whose runs have other names in the file of --json.
WRITTEN_AS = {"messages": {"latency", "rate", "gathered", "bulk", "inside"}, "idle": {"idle", "wake"}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="a build with HEDDLE_BENCH, as the preset release, and its target benches (default: build/release)")
    parser.add_argument("--runs", type=int, default=5, help="of each program; medians are printed (default: 5)")
    parser.add_argument("--only", default=",".join(GROUPS), help="some of " + ", ".join(GROUPS))
    parser.add_argument("--quick", action="store_true", help="small sizes: whether it works, not how fast")
    parser.add_argument("--fastest", action="store_true", help="print the fastest runs in place of medians")
    parser.add_argument("--json", metavar="FILE", help="write all that the programs said")
    parser.add_argument("--earlier", metavar="FILE", help="run nothing; print the tables of what --json wrote")
    options = parser.parse_args()
    earlier = read_runs(options.earlier) if options.earlier else {}
    if options.earlier and not earlier:
        sys.exit(f"{options.earlier} has no runs")
    folder = os.path.join(options.build, "bench", "native")
    bench = Bench(folder, options.runs, options.quick, options.fastest, earlier, options.json)
    if not earlier and not bench.has("heddle_messages"):
        sys.exit(f"{folder} has no heddle_messages: cmake --preset release && cmake --build --preset release --target benches")
    if unknown := set(options.only.split(",")) - set(GROUPS):
        sys.exit(f"there is no group {', '.join(unknown)}: {', '.join(GROUPS)}")
    written, complete = {group for group, *_ in earlier}, True
    for name in options.only.split(","):
        if earlier and not WRITTEN_AS.get(name, {name}) & written:
            continue
        try:
            GROUPS[name](bench)
        except NotThere as missing:
            print(f"{name}: {options.earlier or folder} has no {missing}{' with these numbers' if earlier else ''}", file=sys.stderr)
            complete = False
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
