"""Tests the tables of bench/native/compare.py with programs that only say made-up numbers: those of earlier runs, which --json wrote, are the
tables that were printed when the programs ran, and each of Open MPI's ways has its own numbers.
"""

import contextlib
import glob
import io
import json
import os
import random
import shutil
import sys
import tempfile

from script_arguments import script_arguments


def made_up(before, command, run, expected):
    """What a program says. Tasks take as long as their work and 100 ns, and each number differs by up to a third from run to run."""
    noise = random.Random(f"{before} {command} {run}")
    seconds = noise.uniform(1, 1.3)
    if command[0].endswith("_graph"):
        width, steps, workers, work = map(int, command[2:6])
        seconds *= width * steps * (work + 100) * 1e-9 / workers
        return {"seconds": seconds, "cpu_seconds": seconds, "tasks": width * steps, "step_ns": noise.uniform(1, 1.3), "peak_mb": 1}
    if command[0].endswith("_overlap"):
        said = {}
        for count in command[-1].split(","):
            said |= {f"seconds {count}": seconds * max(1e-4, int(count) * 1e-9), f"posting {count}": 1e-5, f"computing {count}": 1e-5}
        return said | {"step_ns": noise.uniform(1, 1.3)}
    names = ("seconds", "cpu_seconds", "peak_mb", "tasks", "cores", "most", "median_us", "p90_us", "p99_us", "missed", "ns", "revoke_ns", "bytes", "one_way_us",
             "messages_per_second", "gigabytes_per_second", "call_us", "first_seconds")
    return {name: noise.uniform(1, 1.3) for name in names} | {"value": 1 if expected is None else expected}


class Programs:
    """Takes the place of Bench.once: what a case says depends on its words and on how often it has run."""

    def __init__(self):
        self.ran = {}

    def once(self, before, command, expected):
        case = (*before, *command)
        self.ran[case] = self.ran.get(case, 0) + 1
        return made_up(before, command, self.ran[case], expected)


def tables(compare, *words):
    """The exit code, and what is printed."""
    sys.argv = ["compare.py", *words]
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(io.StringIO()) as errors:
        code = compare.main()
    return code, said.getvalue(), errors.getvalue()


def write(path, cases):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(cases, file)


def check_ways_of_mpi(compare, message_groups, path):
    """TCP takes 8 us, and shared memory 0.15 us."""
    call = ["barrier", "8", "2000"]
    cases = [{"group": "collectives", "before": [], "command": command, "runs": [{"call_us": us}]} for command, us in (
        (["heddle_collectives", "processes", *call, "auto", "tcp"], 10.4), (["heddle_collectives", "processes", *call, "auto", "memory"], 0.2),
        (["heddle_collectives", "threads", *call], 0.1), (["heddle_collectives", "shared", *call], 0.1))]
    for us, way in (8, ()), (0.15, ("--mca", "btl", "vader,self")):
        before, command = message_groups.mpi(("peer_mpi_collectives", *call), *way)
        cases.append({"group": "collectives", "before": before, "command": command, "runs": [{"call_us": us}]})
    write(path, cases)
    code, said, errors = tables(compare, "--earlier", path, "--only", "collectives", "--quick")
    assert "| barrier | 8 | 10.40 | 8.00 | 1.30 | 0.20 | 0.10 | 0.10 | 0.15 |" in said, said
    # The other calls are not in the file.
    assert code == 1 and "collectives:" in errors and "heddle_collectives" not in said, (code, errors)

    # Files of earlier versions do not say which way it was: then no number is printed for it.
    for case in cases:
        del case["before"]
    write(path, cases)
    _, said, _ = tables(compare, "--earlier", path, "--only", "collectives", "--quick")
    assert "| barrier | 8 | 10.40 |  |  | 0.20 | 0.10 | 0.10 |  |" in said, said


def main():
    arguments = script_arguments()
    native = os.path.join(arguments.source, "bench", "native")
    sys.path.insert(0, native)
    sys.dont_write_bytecode = True
    import compare
    import measure
    import message_groups

    with tempfile.TemporaryDirectory() as folder:
        build, path = os.path.join(folder, "bench", "native"), os.path.join(folder, "native.json")
        os.makedirs(build)
        sources = glob.glob(os.path.join(native, "*.cpp")) + glob.glob(os.path.join(native, "peers", "*.cpp"))
        for source in sources:
            kind = "peer_" if os.path.basename(os.path.dirname(source)) == "peers" else ""
            write(os.path.join(build, kind + os.path.basename(source)[:-4]), "")
        for name in "heddle_no_charge", "heddle_no_gate":
            write(os.path.join(build, name), "")

        once = measure.Bench.once
        measure.Bench.once = lambda _, *words, programs=Programs(): programs.once(*words)
        which = shutil.which
        shutil.which = lambda _: "/usr/bin/true"
        words = "--build", folder, "--quick", "--runs", "3"
        code, measured, errors = tables(compare, *words, "--json", path)
        assert (code, errors) == (0, ""), (code, errors)

        # A program that was not built is left out, and no other is missed.
        os.remove(os.path.join(build, "peer_openmp_barrier"))
        code, said, _ = tables(compare, *words, "--only", "strands")
        assert code == 0 and "OpenMP's 0 ns" in said, said
        measure.Bench.once, shutil.which = once, which

        # The same numbers give the same tables, without a program.
        code, said, errors = tables(compare, "--earlier", path, "--quick")
        assert (code, errors) == (0, "") and said == measured, (code, errors)

        # Those of the fastest runs have the same rows.
        code, fastest, errors = tables(compare, "--earlier", path, "--quick", "--fastest")
        assert (code, errors) == (0, "") and fastest != measured, (code, errors)
        assert len(fastest.splitlines()) == len(measured.splitlines()), fastest

        # Groups that the file does not have are not printed; one of which it has a part ends with a line.
        with open(path, encoding="utf-8") as file:
            cases = json.load(file)
        write(path, [case for case in cases if case["group"] in ("gate", "idle", "wake")])
        code, said, errors = tables(compare, "--earlier", path, "--quick")
        assert (code, errors) == (0, "") and said.count("###") == 2, (code, said, errors)
        code, said, errors = tables(compare, "--earlier", path)
        assert code == 1 and errors.count("\n") == 2 and "gate: " in errors and "with these numbers" in errors, (code, errors)

        check_ways_of_mpi(compare, message_groups, path)
    print(f"{len(measured.splitlines())} lines of tables, the same of earlier runs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
