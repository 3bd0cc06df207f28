"""Tests what scripts/metg finds with makespans that are made up: tasks that take 0.3 us besides their work, on cores of their own, or
natively on one core, where two workers never reach a half.
"""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import sys
import tempfile

from script_arguments import script_arguments

TASK_SECONDS = 0.3e-6


def table(metg, platform, native_cores):
    """The rows that the script prints, by pattern and machine."""
    largest = [0.0]

    def once(cell, grain):
        largest[0] = max(largest[0], grain)
        cores = min(cell.workers, native_cores) if cell.world == "native" else cell.workers
        return (grain + TASK_SECONDS) * cell.width * cell.steps / cores

    metg.Cell.once = once
    sys.argv = ["metg", "heddle", "--platform", platform, "--runs", "1"]
    with contextlib.redirect_stdout(io.StringIO()) as said:
        assert metg.main() == 0
    assert largest[0] < 0.1, f"tasks of {largest[0]} s were run"
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in said.getvalue().splitlines()[2:]]
    return {(row[0], row[1]): row[2:] for row in rows}


def main():
    arguments = script_arguments()
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("metg", os.path.join(arguments.source, "scripts", "metg"))
    metg = importlib.util.module_from_spec(importlib.util.spec_from_loader("metg", loader))
    loader.exec_module(metg)
    with tempfile.TemporaryDirectory() as folder:
        platform = os.path.join(folder, "here.yaml")
        with open(platform, "w", encoding="utf-8") as file:
            file.write("platform:\n  core_speed: 10Gf\n")
        found = table(metg, platform, 2)
        assert len(found) == 6, found
        for native, simulated, error in found.values():
            assert 0.6 <= float(native) < 0.62 and native == simulated and error == "+0%", found

        shared = table(metg, platform, 1)
        for (_, machine), (native, simulated, error) in shared.items():
            assert 0.6 <= float(simulated) < 0.62, shared
            if machine == "1 x 1":
                assert native == simulated and error == "+0%", shared
            else:
                assert native.startswith("more than ") and error == "", shared
    return 0


if __name__ == "__main__":
    sys.exit(main())
