"""Tests that the notebooks of docs/notebooks/ show what they do. Executed again, each cell prints the same text, and
draws if it drew before. Skipped if pandas, Matplotlib or nbclient is missing.
"""

import glob
import importlib.util
import os
import sys

from script_arguments import SKIPPED, script_arguments

NEEDED = ("pandas", "matplotlib", "nbclient", "nbformat", "ipykernel")
# Debian's packages are for Debian's Python, which may not be the first one on the path.
DEBIAN_PYTHON = "/usr/bin/python3"

if missing := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
    if os.path.exists(DEBIAN_PYTHON) and not os.environ.get("HEDDLE_OTHER_PYTHON"):
        os.execve(DEBIAN_PYTHON, [DEBIAN_PYTHON, "-B", *sys.argv], {**os.environ, "HEDDLE_OTHER_PYTHON": "1"})
    print(f"not there: {', '.join(missing)}")
    sys.exit(SKIPPED)

import nbclient  # noqa: E402
import nbformat  # noqa: E402


def shown(book):
    """What each code cell prints; of a figure only that there is one."""
    cells = []
    for cell in book.cells:
        if cell.cell_type != "code":
            continue
        cells.append([output.get("text") or output.data.get("text/plain") for output in cell.outputs])
    return cells


def main():
    arguments = script_arguments("heddle", "simulator")
    os.environ |= {"HEDDLE": os.path.abspath(arguments.heddle), "PYDEVD_DISABLE_FILE_VALIDATION": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    folder = os.path.join(arguments.source, "docs", "notebooks")
    paths = sorted(glob.glob(os.path.join(folder, "*.ipynb")))
    assert len(paths) == 2, paths
    for path in paths:
        stated = nbformat.read(path, 4)
        before = shown(stated)
        figures = [output for cell in stated.cells for output in cell.get("outputs", []) if "image/png" in output.get("data", {})]
        assert figures and any(before), f"{path} was not executed"
        again = nbclient.NotebookClient(stated, timeout=200, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
        for number, (old, new) in enumerate(zip(before, shown(again), strict=True), 1):
            assert old == new, f"{path}, code cell {number}: states\n{old}\nand prints\n{new}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
