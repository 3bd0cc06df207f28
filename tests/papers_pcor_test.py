"""Tests the pCoR paper's Figures 3 and 5 against its text: round trips, throughput, dispatchers that poll, and the map's
scenarios. docs/papers/pcor.md has the numbers.
"""

import csv
import os
import subprocess
import tempfile

from script_arguments import script_arguments


def rows_of(out):
    with open(os.path.join(out, "runs.csv"), encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    assert rows and all(row["ok"] == "true" for row in rows), rows
    return rows


def cells(arguments, directory, name, column):
    """{(between, receive, bytes): value} of a file's cells."""
    file = os.path.join(arguments.source, "configs", "papers", "pcor", name + ".yaml")
    out = os.path.join(directory, name)
    subprocess.run([arguments.heddle, "compare", file, "--out", out], capture_output=True, text=True, check=True, timeout=1700)
    rows = rows_of(out)
    return {(row.get("workload_between"), row["transport_receive"] or "block", int(row.get("workload_bytes") or 0)): float(row[column]) for row in rows}


def near(value, expected, percent):
    assert abs(value / expected - 1) <= percent / 100, f"{value}, and not {expected} within {percent}%"


def main():
    arguments = script_arguments("heddle", "simulator")
    with tempfile.TemporaryDirectory() as directory:
        one_way = cells(arguments, directory, "figure3", "answer_one_way")
        rate = cells(arguments, directory, "figure3_throughput", "answer_bytes_per_second")
        work = cells(arguments, directory, "polling", "makespan_seconds")
    sizes = sorted({size for _, _, size in one_way})
    assert len(one_way) == len(rate) == 4 * len(sizes) == 20, (one_way, rate)
    for size in sizes:
        for receive in "poll", "block":
            near(2 * (one_way["threads", receive, size] - one_way["handlers", receive, size]), 70e-6, 10)
        for between in "threads", "handlers":
            near(2 * (one_way[between, "block", size] - one_way[between, "poll", size]), 30e-6, 10)
    near(rate["threads", "poll", 16384], 120e6, 5)
    near(rate["handlers", "poll", 16384], 120e6, 5)
    share = {size: rate["threads", "poll", size] / rate["handlers", "poll", size] for size in sizes}
    assert share[4096] >= 0.9 and share[16384] >= 0.9, share
    assert share[256] < share[1024] < share[4096], share
    by_receive = {receive: seconds for (_, receive, _), seconds in work.items()}
    near(by_receive["poll"] / by_receive["block"], 2, 5)
    the_map(arguments)


def the_map(arguments):
    """Two nodes of two processors beat a server of four if there are tiles for all, and four nodes are best."""
    file = os.path.join(arguments.source, "configs", "papers", "pcor", "figure5.yaml")
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([arguments.heddle, "compare", file, "--out", directory], capture_output=True, text=True, check=True, timeout=1700)
        rows = rows_of(directory)
    assert len(rows) == 35 and all(row["check"] == "right" for row in rows if "check" in row), rows
    seconds = {(int(row["workload_factor"]), int(row["platform_nodes"]), int(row["platform_cores"])): float(row["makespan_seconds"]) for row in rows}
    for factor in 4, 5, 8, 10, 16:
        assert seconds[factor, 2, 2] < seconds[factor, 1, 4], (factor, seconds)
        assert seconds[factor, 4, 2] == min(value for (of, _, _), value in seconds.items() if of == factor), (factor, seconds)


main()
