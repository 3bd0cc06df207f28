"""Tests the workloads ptrans, fft2d and nas_ft natively and in simulation: odd sizes, several grids, ranks that are
threads, threads that pack and send. Each program compares its whole answer. The answers of NAS FT are published
(classes S and W; A in spmd_workloads_slow_test.py).
"""
import itertools
import os

from script_arguments import script_arguments
from spmd_workloads_testing import answer, run

arguments = script_arguments("heddle")
os.chdir(arguments.source)
worlds = ["native", "sim"] if os.environ.get("HEDDLE_SIM") != "OFF" else ["native"]

PROBLEMS = [
    ("ptrans", {"n": 97, "block": 5, "repeats": 1}),
    ("ptrans", {"n": 300, "block": 64, "grid_rows": 1, "repeats": 1}),
    ("ptrans", {"n": 150, "block": 0, "tile": 0, "add": "false", "repeats": 1}),
    ("ptrans", {"n": 97, "block": 5, "tile": 7, "repeats": 1}),
    ("fft2d", {"n": 60, "repeats": 1}),
    ("fft2d", {"n": 128, "repeats": 1}),
    ("nas_ft", {"class": "S"}),
]
WAYS = [{}, {"ranks": "threads"}, {"overlap": "true"}, {"communicators": 2, "sends": "together"}]

for world in worlds:
    for (workload, settings), (nodes, cores), way in itertools.product(PROBLEMS, [(1, 2), (2, 2), (3, 2)], WAYS):
        if workload == "nas_ft" and (world == "native" or nodes == 3) and way not in WAYS[:2]:
            continue
        run(arguments.heddle, workload, settings | way, nodes, cores, world)
    run(arguments.heddle, "nas_ft", {"class": "W"}, 2, 1, world)

# The closed form: p (p-1) messages of a rank for each node, and (r p) (r p - 1) of one for each thread. 4 rounds of 2 transposes;
# the end of the program has p lg p.
if "sim" in worlds:
    for nodes, cores in ((4, 2), (8, 2), (4, 4)):
        for ranks, way in ((nodes, "nodes"), (nodes * cores, "threads")):
            output = run(arguments.heddle, "fft2d", {"n": 64, "ranks": way}, nodes, cores, "sim")
            expected = 8 * ranks * (ranks - 1) + ranks * (ranks - 1).bit_length()
            assert answer(output, "collective_messages") == expected, (nodes, cores, way, expected, output)
            payload = 8 * 64 * 64 * 16 * (ranks - 1) // ranks
            assert answer(output, "collective_bytes") == payload, (nodes, cores, way, payload, output)
