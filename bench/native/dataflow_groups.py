"""The groups of compare.py that are about dataflow tasks: a function each, which runs its programs and prints tables."""

import sys

from measure import Found, ratio, table


def dataflow(bench):
    """Forks over shared objects: Figure 1 of the KAAPI paper beside plain calls, empty tasks with two accesses beside peers
    that find dependencies too, an adaptive loop beside a plain one."""
    n, count, terms = (25, 20_000, 10**7) if bench.quick else (35, 1_000_000, 10**9)
    print("\n### Dataflow\n")
    row = table("problem", "program", "one worker s", "CPU s", "/ first row's CPU s", "two workers s", "one / two", "peak MB")
    for problem, base, program in ((f"fib({n})", "calls", ("fib", n)), (f"a sum of {terms:.0e} terms", "plain", ("loop", terms))):
        found = bench.alternate("dataflow", {0: ((), ("heddle_dataflow", base, program[1])),
                                             1: ((), ("heddle_dataflow", *program, 1)), 2: ((), ("heddle_dataflow", *program, 2))})
        if len({said["value"] for said in found.values()}) != 1:
            sys.exit(f"{problem}: {found}")
        alone, one, two = found[0], found[1], found[2]
        row(problem, base, f"{alone['seconds']:.4f}", f"{alone['cpu_seconds']:.4f}", "", "", "", "")
        row("", "Heddle", f"{one['seconds']:.4f}", f"{one['cpu_seconds']:.4f}", ratio(one["cpu_seconds"], alone["cpu_seconds"]),
            f"{two['seconds']:.4f}", ratio(one["seconds"], two["seconds"]), f"{one['peak_mb']:.0f}")
    print()
    row = table("empty tasks", "program", "one worker s", "CPU s", "two workers s", "this / Heddle, one worker's CPU s", "two workers", "peak MB")
    for objects in 1, 1000:
        programs = {"Heddle": ("heddle_dataflow", "tasks"), "libgomp, depend": ("peer_openmp_dataflow",),
                    "StarPU": ("peer_starpu_dataflow",)}
        # With 1,000 objects libgomp's one thread takes minutes, and 6 GB.
        cases = {(name, workers): ((), (*program, count, objects, workers)) for name, program in programs.items()
                 for workers in (1, 2) if (name, objects, workers) != ("libgomp, depend", 1000, 1)}
        found = bench.alternate("dataflow", cases, count)
        for name in programs:
            if (name, 2) not in found:
                continue
            one, two = found.get((name, 1), {"seconds": 0, "cpu_seconds": 0}), found[name, 2]
            row(f"{count:,}, {objects} objects", name, f"{one['seconds']:.4f}", f"{one['cpu_seconds']:.4f}", f"{two['seconds']:.4f}",
                ratio(one["cpu_seconds"], found["Heddle", 1]["cpu_seconds"]), ratio(two["seconds"], found["Heddle", 2]["seconds"]),
                f"{two['peak_mb']:.0f}")
    print()
    row = table("a group of 10,000 empty tasks", "workers", "recorded, placed and run once s", "a later iteration s", "first / later")
    cases = {(objects, workers): ((), ("heddle_dataflow", "group", 10_000, objects, workers, 100)) for objects in (100, 10_000)
             for workers in (1, 2)}
    for (objects, workers), said in bench.alternate("dataflow", cases).items():
        row(f"{objects:,} objects", workers, f"{said['first_seconds']:.4f}", f"{said['seconds']:.5f}", ratio(said["first_seconds"], said["seconds"]))


def kastors(bench):
    """Problems of KASTORS in the dataflow model beside OpenMP tasks with depend clauses: the same kernels and blocks."""
    problems = [("sparse_lu", 100, 16), ("sparse_lu", 50, 32), ("sparse_lu", 30, 64), ("sparse_lu", 16, 128), ("strassen", 512, 64, 2),
                ("strassen", 1024, 64, 3), ("jacobi", 1024, 32, 10), ("jacobi", 1024, 64, 20), ("jacobi", 2048, 128, 10)]
    if bench.quick:
        problems = [("sparse_lu", 8, 16), ("strassen", 128, 32, 2), ("jacobi", 128, 32, 5)]
    print("\n### KASTORS\n")
    row = table("problem", "tasks", "one worker: Heddle ms", "libgomp ms", "Heddle / libgomp", "two workers: Heddle ms", "libgomp ms",
                "Heddle / libgomp", "one / two")
    for problem in problems:
        cases = {(name, workers): ((), (program, *problem, workers)) for workers in (1, 2)
                 for name, program in (("Heddle", "heddle_kastors"), ("libgomp", "peer_openmp_kastors"))}
        found = bench.alternate("kastors", cases)
        if len({said["value"] for said in found.values()}) != 1:
            sys.exit(f"{problem}: the answers differ: {found}")
        ms = Found({case: said["seconds"] * 1e3 for case, said in found.items()})
        cells = []
        for workers in 1, 2:
            ours, theirs = ms["Heddle", workers], ms.get(("libgomp", workers), 0)
            cells += [f"{ours:.1f}", f"{theirs:.1f}", ratio(ours, theirs)]
        row(" ".join(map(str, problem)), f"{found['Heddle', 1]['tasks']:,.0f}", *cells, ratio(ms["Heddle", 1], ms["Heddle", 2]))
