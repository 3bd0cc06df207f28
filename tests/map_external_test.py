"""Tests that map_viewer's images equal those that Pillow and NumPy make of the same file, byte for byte. It compares
several regions and factors, in simulation and natively. Skipped without ../shared/data/map or one of the two
libraries.
"""

import os
import subprocess
import sys
import tempfile

from outside_a_job import ENVIRONMENT
from script_arguments import script_arguments

try:
    import numpy
    from PIL import Image
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)


def expected(pixels, x, y, width, height, factor):
    """Means of factor x factor pixels, rounded half up; of fewer where the region ends."""
    region = pixels[y : y + height, x : x + width].astype(numpy.int64)
    height, width = region.shape[:2]
    rows = numpy.add.reduceat(region, range(0, height, factor), axis=0)
    sums = numpy.add.reduceat(rows, range(0, width, factor), axis=1)
    count_y = numpy.diff([*range(0, height, factor), height])
    count_x = numpy.diff([*range(0, width, factor), width])
    counts = (count_y[:, None] * count_x[None, :])[:, :, None]
    return (sums + counts // 2) // counts


def main():
    arguments = script_arguments("heddle", "simulator")
    file = os.path.join(arguments.source, "..", "shared", "data", "map", "bmng.jpg")
    if not os.path.exists(file):
        print("skipped: no", file)
        return 77
    Image.MAX_IMAGE_PIXELS = None
    once = numpy.asarray(Image.open(file).convert("RGB"))
    repeated = numpy.tile(once, (4, 2, 1))[:9600, :9600]
    config = os.path.join(arguments.source, "configs", "map_viewer.yaml")
    native = ["--backend", "native", "--set", "platform.nodes=1"]
    launch = [arguments.heddle, "launch", "-n", "4", "--"]
    cases = [(600 * factor, factor, [], []) for factor in (1, 2, 4, 5, 8, 10, 16)]
    cases += [(3000, 5, [], native), (9600, 16, launch, ["--backend", "native", "--set", "platform.cores=1"]), (7777, 13, [], [])]
    with tempfile.TemporaryDirectory() as directory:
        out = os.path.join(directory, "map.png")
        for size, factor, before, more in cases:
            sets = {"map": file, "map_width": 9600, "map_height": 9600, "width": size, "height": size, "factor": factor, "out": out}
            words = [word for name, value in sets.items() for word in ("--set", f"workload.{name}={value}")]
            subprocess.run([*before, arguments.heddle, "run", config, *words, *more], check=True, capture_output=True, env=ENVIRONMENT, timeout=300)
            found = numpy.asarray(Image.open(out))
            assert numpy.array_equal(found, expected(repeated, 0, 0, size, size, factor)), (size, factor, more)
            print("equal:", size, factor, *before[:3], *more)
        # As it is, each of its 9 x 6 tiles alone: those of the last column and row are cut.
        for row, column in [(0, 0), (0, 8), (2, 4), (5, 0), (5, 3), (5, 8)]:
            x, y = 640 * column, 480 * row
            sets = {"map": file, "x": x, "y": y, "width": 640, "height": 480, "factor": 1, "out": out}
            words = [word for name, value in sets.items() for word in ("--set", f"workload.{name}={value}")]
            done = subprocess.run([arguments.heddle, "run", config, *words], check=True, capture_output=True, text=True, env=ENVIRONMENT, timeout=300)
            assert "tiles 1," in done.stdout, done.stdout
            assert numpy.array_equal(numpy.asarray(Image.open(out)), once[y : y + 480, x : x + 640]), (row, column)
        # As it is: 9 x 6 tiles, cut at the edges.
        done = subprocess.run([arguments.heddle, "run", config, "--set", f"workload.map={file}", "--set", "workload.factor=7", "--set", f"workload.out={out}"],
                              check=True, capture_output=True, text=True, env=ENVIRONMENT, timeout=300)
        assert "tiles 54," in done.stdout, done.stdout
        assert numpy.array_equal(numpy.asarray(Image.open(out)), expected(once, 0, 0, once.shape[1], once.shape[0], 7))
    return 0


sys.exit(main())
