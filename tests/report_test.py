"""Tests that `heddle report` makes one page of results. Its tables have the numbers of the CSV files, hostile names are
shown as text, and missing data are named. Equal directories give equal bytes. report_browser_test.py looks at the
page as a browser draws it.
"""

import csv
import glob
import html.parser
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

from script_arguments import script_arguments

MEGABYTES_MAX = 6
HOSTILE = "<script>alert(1)<b>&amp;"


class Page(html.parser.HTMLParser):
    """Tables by id as lists of {field: exact value}, the data: links by file name, the text, and every tag."""

    def __init__(self, path):
        super().__init__()
        with open(path, encoding="utf-8") as file:
            self.source = file.read()
        self.tables, self.links, self.words, self.tags, self.figures = {}, {}, "", [], []
        self.table = self.script = None
        self.in_cell = False  # whose text is its value: it has no exact one
        self.feed(self.source)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        if tag == "script":
            self.script = attributes.get("id", "")
        if tag == "a" and "download" in attributes:
            kind, text = attributes["href"].split(",", 1)
            assert kind in ("data:text/csv;charset=utf-8", "data:text/x-tex;charset=utf-8"), kind
            self.links[attributes["download"]] = urllib.parse.unquote(text)
        if tag == "table":
            self.table = {"fields": [], "rows": []}
            self.tables[attributes["id"]] = self.table
        if tag == "th":
            self.table["fields"].append(attributes["data-field"])
        if tag == "tr":
            self.table["rows"].append([])
        if tag == "td":
            self.in_cell = "data-exact" not in attributes
            self.table["rows"][-1].append(attributes.get("data-exact") or "")

    def handle_endtag(self, tag):
        self.in_cell = self.in_cell and tag != "td"
        self.script = None if tag == "script" else self.script

    def handle_data(self, data):
        if self.script is not None:
            if self.script == "figures":
                self.figures = json.loads(data)
            return
        self.words += data
        if self.in_cell:
            self.table["rows"][-1][-1] += data

    def rows(self, name):
        return [dict(zip(self.tables[name]["fields"], row)) for row in self.tables[name]["rows"] if row]


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Reports:
    def __init__(self, heddle, folder):
        self.heddle, self.folder, self.count = heddle, folder, 0

    def run(self, *words, code=0):
        done = subprocess.run([self.heddle, *words], capture_output=True, text=True)
        assert done.returncode == code, (words, done)
        return done.stdout + done.stderr

    def path(self, name):
        return os.path.join(self.folder, name)

    def page(self, *words):
        self.count += 1
        out = self.path(f"page{self.count}.html")
        self.run("report", *words, "--out", out)
        assert os.path.getsize(out) < MEGABYTES_MAX * 1e6, os.path.getsize(out)
        page = Page(out)
        self.run("report", *words, "--out", out)
        with open(out, encoding="utf-8") as file:
            assert file.read() == page.source, "the same input gives the same bytes"
        for tag, attributes in page.tags:
            assert "src" not in attributes and not attributes.get("href", "#").startswith(("http", "//", "file")), (tag, attributes)
        for name, text in page.links.items():
            if name.endswith(".csv"):
                rows = list(csv.reader(text.splitlines()))
                table = page.tables[name[:-4]]
                assert rows[0] == table["fields"] and rows[1:1001] == [row for row in table["rows"] if row], name
        assert set(page.links) == {f"{table}.{ending}" for table in page.tables for ending in ("csv", "tex")}
        return page


def check_comparison(reports):
    out = reports.path("first")
    reports.run("compare", "configs/experiments/first.yaml", "--out", out, "--record")
    page = reports.page(out)
    compared = {(row["platform_nodes"], row["schedule_stealing_victim"]): row for row in rows_of(os.path.join(out, "comparison.csv"))}
    seen = 0
    for number, nodes in enumerate(("4", "16"), 1):
        letters = {}
        for row in page.rows(f"comparison-{number}"):
            expected = compared[nodes, row["schedule_stealing_victim"]]
            for field in ("runs", "median_seconds", "low_seconds", "high_seconds", "ratio", "standing", "lower_bound_seconds"):
                assert row[field] == expected[field], (nodes, row, field, expected[field])
            letters[row["schedule_stealing_victim"]] = row["letters"]
            seen += 1
        # Every run without stealing is longer, and repeats without stealing are identical.
        assert letters == {"none": "b", "random": "a", "hierarchical": "a"}, letters
    for row in page.rows("counts"):
        expected = compared[row["platform_nodes"], row["schedule_stealing_victim"]]
        for field in ("tasks", "steals_within_node", "steals_between_nodes", "steal_attempts", "messages", "bytes"):
            assert float(row[field]) == float(expected[field]), (row, field)
    assert seen == len(compared) == 6
    assert "is not shown to be slower. The next, none, takes" in page.words and "The reason:" in page.words, page.words[:600]
    assert "switched off in 2 of 6 combinations" in page.words
    assert {figure["id"] for figure in page.figures} >= {"dots-1", "dots-2", "curve-1", "states-figure", "steal-matrix", "workers", "gantt"}
    chosen = [row for row in rows_of(os.path.join(out, "runs.csv")) if row["platform_nodes"] == "16" and row["schedule_stealing_victim"] == "hierarchical"]
    stolen = sum(int(row["tasks"]) for row in page.rows("steal-matrix-table"))
    assert str(stolen) in [row["steals_between_nodes"] for row in chosen]
    by_victim = reports.page(out, "--by", "schedule.stealing.victim")
    assert "schedule.stealing.victim none" in by_victim.words
    assert "--by seeds: this key does not vary" in reports.run("report", out, "--by", "seeds", "--out", reports.path("no.html"), code=2)


def picoseconds(text):
    whole, part = text.split(".")
    return int(whole) * 10**12 + int(part)


def check_sum(page, makespan, workers):
    """Sums of causes are exact: in whole picoseconds. So are the columns between two tasks of the path."""
    end = 0
    for step in page.rows("critical-path"):
        before = sum(picoseconds(step[f"{cause}_seconds"]) for cause in ("message", "scheduler", "steal", "wake_up", "no_task"))
        assert end + before == picoseconds(step["start_seconds"]), (step, end)
        end = picoseconds(step["end_seconds"])
    for table, total in (("causes", makespan * workers), ("critical-path-causes", makespan)):
        *causes, last = [picoseconds(row["seconds"]) for row in page.rows(table)]
        assert sum(causes) == last == total, (table, causes, last, total)


def check_graph(reports):
    """The critical path of placed graphs, from the schedule alone: sums, order, and the span from the graph's own edges."""
    for seed, policy in enumerate(("none", "random"), 1):
        out = reports.path(f"cholesky{policy}")
        reports.run("run", "configs/cholesky.yaml", "--out", out, "--record", "--seed", str(seed), "--set", f"schedule.stealing.victim={policy}")
        page = reports.page(out)
        cell, = glob.glob(os.path.join(out, "*", ""))
        with open(os.path.join(cell, "result.json"), encoding="utf-8") as file:
            result = json.load(file)
        check_sum(page, round(result["makespan_seconds"] * 1e12), result["nodes"] * result["cores"])
        tasks = {row["task"]: row for row in rows_of(os.path.join(cell, "tasks.csv"))}
        by_name = {row["name"]: row for row in tasks.values()}
        steps = page.rows("critical-path")
        ends = [by_name[step["task"]] for step in steps]
        assert float(ends[-1]["end_seconds"]) == max(float(row["end_seconds"]) for row in tasks.values())
        for before, after in zip(ends, ends[1:]):
            same_worker = (before["node"], before["worker"]) == (after["node"], after["worker"])
            assert float(before["end_seconds"]) <= float(after["start_seconds"])
            assert same_worker or before["task"] in after["predecessors"].split(), (before, after)
        assert ends[0]["predecessors"] == ""
        finish = {}
        for number, row in tasks.items():  # in the order in which they end
            begin = max((finish[before] for before in row["predecessors"].split()), default=0)
            finish[number] = begin + float(row["end_seconds"]) - float(row["start_seconds"])
        span = max(finish.values())
        said = re.search(r"longest chain of tasks takes ([\d.]+) (us|ms)", page.words)
        assert abs(float(said[1]) * {"us": 1e-6, "ms": 1e-3}[said[2]] / span - 1) < 0.006, (said[0], span)
        gantt = [row["name"] for row in page.rows("gantt-tasks")]
        assert sorted(gantt) == sorted(by_name), "each task once"


def check_stealing(reports):
    """Random graphs and machines: the path explains all of the makespan. It leaves a worker only for a task that had to wait for its
    data after the one before it on its worker had ended."""
    chance = random.Random(1)
    for number in range(8):
        graph = chance.choice(("stencil_1d:width=8,steps=6,spread=0.5", "cholesky:tiles=6", "fft:points=16"))
        settings = {"workload.graph": graph, "platform.nodes": chance.choice((1, 1, 2, 3)), "platform.cores": chance.choice((2, 3)),
                    "schedule.placement": chance.choice(("random", "heft", "cyclic")), "schedule.stealing.victim": "random"}
        out = reports.path(f"stealing{number}")
        reports.run("run", "configs/dag.yaml", "--out", out, "--record", "--seed", str(number),
                    *(word for key, value in settings.items() for word in ("--set", f"{key}={value}")))
        page = reports.page(out)
        cell, = glob.glob(os.path.join(out, "*", ""))
        with open(os.path.join(cell, "result.json"), encoding="utf-8") as file:
            result = json.load(file)
        check_sum(page, round(result["makespan_seconds"] * 1e12), result["nodes"] * result["cores"])
        tasks = {row["name"] or f"{row['kernel']} {row['task']}": row for row in rows_of(os.path.join(cell, "tasks.csv"))}
        steps = [tasks[step["task"]] for step in page.rows("critical-path")]
        for before, after in zip(steps, steps[1:]):
            on_worker = [row for row in tasks.values() if (row["node"], row["worker"]) == (after["node"], after["worker"])
                         and picoseconds(row["end_seconds"]) <= picoseconds(after["start_seconds"])]
            last = max(on_worker, key=lambda row: picoseconds(row["end_seconds"]), default=None)
            busy = last and picoseconds(last["end_seconds"]) > picoseconds(after["ready_seconds"])
            assert before is last if busy else before["task"] in after["predecessors"].split() or before is last, (before, after)


def check_incast(reports):
    """Seven nodes send 10 MB each to one: the link into it carries them in 7 x 10 MB / 10 Gbps = 56 ms, and all else is less than a thousandth."""
    with open(reports.path("incast.dot"), "w", encoding="utf-8") as text:
        text.write("digraph incast { sink [size=1000]; " + "".join(f"s{i} [size=1000]; s{i} -> sink [size=1e7]; " for i in range(8)) + "}\n")
    file = reports.path("incast.yaml")
    with open(file, "w", encoding="utf-8") as text:
        text.write("name: incast\nworkload: {name: dag, graph: incast.dot}\nplatform: {nodes: 8, cores: 1, network: {bandwidth: 10Gbps, latency: 1us}}\n"
                   "schedule: {placement: cyclic, stealing: {victim: none}}\nbackend: sim\n")
    reports.run("run", file, "--out", reports.path("incast"), "--record")
    causes = {row["cause"]: float(row["seconds"]) for row in reports.page(reports.path("incast")).rows("critical-path-causes")}
    assert 0.056 <= causes["message"] < 0.056 * 1.001, causes
    assert sum(causes.values()) / 2 - causes["message"] < 0.056 * 0.001, causes  # the last row is the sum


def check_granularity(reports):
    """METG(50%) from the medians of comparison.csv: the size of tasks at which the share of time in user work crosses one half, by the logarithm."""
    file = reports.path("granularity.yaml")
    with open(file, "w", encoding="utf-8") as text:
        text.write("name: sizes\nworkload: {name: bag, tasks: 400}\nplatform: {nodes: 2, cores: 2}\nbackend: sim\n"
                   "compare: {schedule.placement: [none, cyclic], 'workload.task_cost': [10f, 100f, 1kf, 10kf, 100kf]}\n")
    out = reports.path("granularity")
    reports.run("compare", file, "--out", out)
    points = {}
    for row in rows_of(os.path.join(out, "comparison.csv")):
        times = {state: float(row[f"time_seconds_{state}"]) for state in ("working", "overhead", "stealing", "waiting", "idle")}
        points.setdefault(row["schedule_placement"], []).append((sum(times.values()) / float(row["tasks"]), times["working"] / sum(times.values())))
    expected = {}
    for placement, sizes in points.items():
        sizes.sort()
        (small, low), (large, high) = next((a, b) for a, b in zip(sizes, sizes[1:]) if a[1] < 0.5 <= b[1])
        expected[placement] = small * (large / small) ** ((0.5 - low) / (high - low))
    shown = {row["combination"]: float(row["metg_seconds"]) for row in reports.page(out).rows("granularity-table")}
    assert len(shown) == len(expected) == 2, (shown, points)
    for placement, metg in expected.items():
        assert abs(shown[placement] / metg - 1) < 1e-9, (shown, expected)


def check_heat_map(reports):
    file = reports.path("heat.yaml")
    with open(file, "w", encoding="utf-8") as text:
        text.write("name: heat\nworkload: {name: cholesky, tiles: 6}\nplatform: {nodes: 2, cores: 2}\nbackend: sim\n"
                   "compare: {schedule.placement: [heft, cyclic], schedule.stealing.victim: [none, random]}\n")
    out = reports.path("heat")
    reports.run("compare", file, "--out", out)
    page = reports.page(out)
    medians = {(row["schedule_placement"], row["schedule_stealing_victim"]): row["median_seconds"] for row in rows_of(os.path.join(out, "comparison.csv"))}
    shown = {(row["schedule_placement"], row["schedule_stealing_victim"]): row["median_seconds"] for row in page.rows("placement-by-stealing-table")}
    assert shown == medians and len(medians) == 4
    assert "No run was recorded" in page.words


def check_hostile(reports):
    """A name of an experiment, and what results and failures say, are text wherever they are shown."""
    out = reports.path("hostile")
    file = reports.path("hostile.yaml")
    with open(file, "w", encoding="utf-8") as text:
        text.write(f"name: \"{HOSTILE}\"\nworkload: {{name: cholesky, tiles: 3}}\nplatform: {{nodes: 1, cores: 2}}\nbackend: sim\n")
    reports.run("run", file, "--out", out, "--record")
    cell, = glob.glob(os.path.join(out, "*", ""))
    with open(os.path.join(cell, "tasks.csv"), encoding="utf-8") as table:
        text = table.read()
    with open(os.path.join(cell, "tasks.csv"), "w", encoding="utf-8") as table:
        table.write(text.replace("potrf 0", f'"{HOSTILE}, ""</td>"'))
    os.makedirs(os.path.join(out, "failed"))
    with open(os.path.join(out, "failed", "failure.json"), "w", encoding="utf-8") as failure:
        json.dump({"cell": "failed", "error": HOSTILE, "exit_code": 3, "command": f"heddle run '{HOSTILE}'"}, failure)
    page = reports.page(out, "--title", HOSTILE)
    assert [attributes.get("id") for tag, attributes in page.tags if tag == "script"] == ["figures", "plotly", None]
    assert HOSTILE not in page.source and HOSTILE in page.words
    assert page.rows("failures")[0]["error"] == HOSTILE


def check_missing(reports):
    empty = reports.path("empty")
    os.makedirs(empty)
    page = reports.page(empty)
    assert "There is no finished run" in page.words and "has no results" in page.words
    os.symlink(reports.path("loop"), reports.path("loop"))
    assert "cannot be read (Too many levels of symbolic links)" in reports.run("report", reports.path("loop"), "--out", reports.path("no.html"), code=2)
    assert "is not a directory of results" in reports.run("report", reports.path("nowhere"), "--out", reports.path("no.html"), code=2)

    single = reports.path("single")
    reports.run("run", "configs/fib.yaml", "--backend", "sim", "--set", "workload.n=10", "--out", single)
    page = reports.page(single)
    assert "This is a single run, so nothing is compared here" in page.words
    assert "switched off in all runs" in page.words or "never fired" in page.words or "No task was stolen" in page.words

    # A result that is damaged is named, and its row of runs.csv is used; without JSON the table alone is read.
    cell, = glob.glob(os.path.join(single, "*", ""))
    with open(os.path.join(cell, "result.json"), "w", encoding="utf-8") as file:
        file.write("{")
    page = reports.page(single)
    assert "result.json cannot be read; its row of runs.csv is used instead" in page.words
    shutil.rmtree(cell)
    assert "1 finished run of 1 combination" in reports.page(single).words

    silent = reports.path("silent")
    reports.run("run", "configs/cholesky.yaml", "--set", "workload.tiles=2", "--set", "platform.nodes=1", "--set", "platform.cores=1", "--set",
                "schedule.stealing.victim=random", "--out", silent)
    assert "Stealing was allowed, but never fired" in reports.page(silent).words


def check_sizes(reports):
    """A table of 10,000 runs, which no other file describes; and a recorded run on 1000 x 4."""
    many = reports.path("many")
    os.makedirs(many)
    with open(os.path.join(many, "runs.csv"), "w", encoding="utf-8") as file:
        file.write("cell,ok,makespan_seconds,lower_bound_seconds,tasks,steals_within_node,nodes,cores,name,workload_name,workload_n,platform_nodes,"
                   "schedule_stealing_victim,backend,seed\n")
        for i in range(10_000):
            file.write(f"{i:016x},true,{1 + (i * 7919 % 1000) / 1e4},0.5,{100 + i % 50},3,{1 + i // 100 % 10},2,many,fib,{20 + i // 1000},{1 + i // 100 % 10},"
                       f"{'random' if i % 100 < 50 else 'none'},sim,{i % 50}\n")
    page = reports.page(many)
    assert "10,000 finished runs of 200 combinations" in page.words
    switches = reports.path("switches")
    reports.run("run", "configs/quickstart.yaml", "--set", "platform.nodes=80", "--set", "platform.network.shape=[16, 5]", "--out", switches)
    page = reports.page(switches)
    matrix, = [figure for figure in page.figures if figure["id"] == "steal-matrix"]
    assert len(matrix["traces"][0]["z"]) == 5 and "each is a group of the network" in page.words
    row, = page.rows("steal-distances")
    within_group = sum(matrix["traces"][0]["z"][i][i] for i in range(5))
    assert float(row["steals_within_group"]) == within_group, (row, within_group)
    for level in ("within_node", "within_group", "between_groups"):
        attempts, share = (float(row[f"{what}_{level}"]) for what in ("attempts", "success_percent"))
        assert attempts >= 1 and 0 < share <= 100, row
    large = reports.path("large")
    reports.run("run", "configs/quickstart.yaml", "--set", "platform.nodes=1000", "--set", "platform.network.topology=star", "--out", large, "--record")
    page = reports.page(large)
    gantt, = [figure for figure in page.figures if figure["id"] == "gantt"]
    assert len(gantt["traces"][0]["z"]) == 50 and "each is 16 consecutive nodes" in page.words


def main():
    arguments = script_arguments("heddle", "simulator")
    os.chdir(arguments.source)
    with tempfile.TemporaryDirectory() as folder:
        reports = Reports(os.path.abspath(arguments.heddle), folder)
        for check in (check_comparison, check_graph, check_stealing, check_incast, check_granularity, check_heat_map, check_hostile, check_missing, check_sizes):
            check(reports)
            print(check.__name__, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
