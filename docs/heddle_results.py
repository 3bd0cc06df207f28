"""Reads tables of Heddle's results into pandas, with the types and units that datapackage.json beside them states (docs/results.md).

    import heddle_results
    runs = heddle_results.read("comparisons/first/runs.csv")
    runs.groupby(["platform_nodes", "schedule_stealing_victim"]).makespan_seconds.median()
    runs.attrs["units"]["makespan_seconds"]  # "s"
"""

import glob
import json
import os

import pandas

TYPES = {"integer": "Int64", "number": "float64", "boolean": "boolean", "string": "string"}


def fields(path):
    """The descriptions of a table's columns by name; none for a table of an earlier version."""
    package = os.path.join(os.path.dirname(os.path.abspath(path)), "datapackage.json")
    if not os.path.exists(package):
        return {}
    with open(package, encoding="utf-8") as file:
        resources = json.load(file)["resources"]
    return {field["name"]: field for resource in resources if resource["path"] == os.path.basename(path)
            for field in resource["schema"]["fields"]}


def read(path):
    """A table with typed columns. `attrs` has the units and meanings of the columns, by name."""
    described = fields(path)
    table = pandas.read_csv(path, dtype={name: TYPES[field["type"]] for name, field in described.items() if field["type"] in TYPES})
    table.attrs["units"] = {name: field["unit"] for name, field in described.items() if "unit" in field}
    table.attrs["meanings"] = {name: field["description"] for name, field in described.items()}
    return table


def read_cells(directory, name):
    """One table of all cells of a directory, such as tasks.csv, with the column `cell` in front."""
    tables = []
    for path in sorted(glob.glob(os.path.join(directory, "*", name))):
        table = read(path)
        table.insert(0, "cell", os.path.basename(os.path.dirname(path)))
        tables.append(table)
    return pandas.concat(tables, ignore_index=True) if tables else pandas.DataFrame()
