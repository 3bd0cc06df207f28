"""Tests that docs/heddle_results.py reads tables of results into pandas with their types and units. Skipped if pandas is
missing.
"""

import math
import os
import subprocess
import sys
import tempfile

from script_arguments import script_arguments

try:
    import pandas  # noqa: F401
except ImportError:
    # Debian's package is for Debian's Python, which may not be the first one on the path.
    DEBIAN_PYTHON = "/usr/bin/python3"
    if os.path.exists(DEBIAN_PYTHON) and not os.environ.get("HEDDLE_OTHER_PYTHON"):
        os.execve(DEBIAN_PYTHON, [DEBIAN_PYTHON, "-B", *sys.argv], {**os.environ, "HEDDLE_OTHER_PYTHON": "1"})
    print("pandas is not there")
    sys.exit(77)


def main():
    arguments = script_arguments("heddle", "simulator")
    sys.path.insert(0, os.path.join(arguments.source, "docs"))
    import heddle_results
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(arguments.source, "configs", "experiments", "first.yaml")
        subprocess.run([os.path.abspath(arguments.heddle), "compare", file, "--out", folder, "--record"], check=True, capture_output=True)
        runs = heddle_results.read(os.path.join(folder, "runs.csv"))
        assert len(runs) == 36 and str(runs.ok.dtype) == "boolean" and runs.ok.all()
        assert str(runs.tasks.dtype) == "Int64" and str(runs.makespan_seconds.dtype) == "float64"
        assert str(runs.cell.dtype) == "string" and runs.cell.nunique() == 36, "a name of digits is no number"
        assert runs.attrs["units"]["makespan_seconds"] == "s" and "cell" in runs.attrs["meanings"]
        compared = heddle_results.read(os.path.join(folder, "comparison.csv"))
        medians = runs.groupby(["platform_nodes", "schedule_stealing_victim"]).makespan_seconds.median()
        for row in compared.itertuples():
            # Of six runs the median is a mean of two, whose last bit depends on how it is computed.
            assert math.isclose(medians[int(row.platform_nodes), row.schedule_stealing_victim], row.median_seconds, rel_tol=1e-15), row
        workers = heddle_results.read_cells(folder, "workers.csv")
        recorded = runs[runs.cell.isin(workers.cell.unique())]
        assert len(recorded) == 6 and len(workers) == (recorded.nodes * recorded.cores).sum()
        assert heddle_results.read_cells(folder, "none.csv").empty
        # A table of an earlier version has no description.
        os.remove(os.path.join(folder, "datapackage.json"))
        assert heddle_results.read(os.path.join(folder, "runs.csv")).attrs["units"] == {}
    return 0


if __name__ == "__main__":
    sys.exit(main())
