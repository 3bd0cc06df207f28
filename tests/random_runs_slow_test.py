"""Runs random experiments (random_experiments.py), simulated and native ones, and checks of each what must hold whatever it is:
it ends in time, with a right answer or a refusal that names its place; times add up; a simulation is the same again.

HEDDLE_RANDOM_RUNS is how many (800, three minutes of a core), HEDDLE_RANDOM_SEED the first seed (1). A failure prints its seed,
its files and the command, so that HEDDLE_RANDOM_SEED=SEED HEDDLE_RANDOM_RUNS=1 runs it alone. No time is measured but that a run ends.
"""

import base64
import collections
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
import uuid

from outside_a_job import ENVIRONMENT
from random_drawing import Schema
from random_experiments import Experiment
from script_arguments import has_simulator, script_arguments

SANITIZER = os.environ.get("HEDDLE_SANITIZE", "")
LIMIT = 600 if SANITIZER else 60  # seconds; what is drawn takes a second or less
MARK = "HEDDLE_RANDOM_RUN"
NOT_A_REFUSAL = ("deadlock", "a mistake of heddle's own", "broken assumption", "Sanitizer", "terminate")
# Programs whose tasks are the same whatever the schedule is, unless forks are pruned.
COUNTED = {"bag", "dag", "cholesky", "lu", "earth_fib", "earth_nqueens", "earth_lock", "earth_reduction", "fib", "filament_fib", "nqueens",
           "quadrature", "uts"}
# Parts of answers that tell of times or of the schedule.
OF_THE_SCHEDULE = re.compile(r"time|second|ratio|migration|suspension|renaming|readiness|stolen|steal|message|bytes|between|copied|_by_|placing"
                             r"|one_way|control_blocks|fragments|deviation|residual|zeta|relative_error|groups|lookup|fetch|dispatch|refus|closures|accesses|handed|moved|calls")


class Wrong(Exception):
    """What must not be, with the command that showed it."""


def picoseconds(seconds):
    return round(float(seconds) * 1e12)


class Check:
    """The runs of one experiment, in a folder of their own."""

    def __init__(self, heddle, experiment, folder):
        self.heddle, self.experiment, self.folder = heddle, experiment, folder
        self.commands = []
        self.write("run.yaml", experiment.yaml())
        for name, text in experiment.files.items():
            self.write(name, text)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, *names):
        with open(os.path.join(self.folder, *names), encoding="utf-8") as file:
            return file.read()

    def expect(self, condition, what):
        if not condition:
            raise Wrong(what)

    # --- running

    def command(self, *words):
        """Runs heddle. All processes of it have a mark, by which those that are left over are found."""
        self.commands.append(words)
        mark = uuid.uuid4().hex
        process = subprocess.Popen([self.heddle, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder,
                                   env={**ENVIRONMENT, MARK: mark})
        try:
            out, errors = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            for number in self.marked(mark):
                os.kill(number, 9)
            process.communicate()
            raise Wrong(f"it has not ended after {LIMIT} s") from None
        left = self.marked(mark)
        for _ in range(20):  # one that ends takes a moment
            if not left:
                break
            time.sleep(0.1)
            left = self.marked(mark)
        for number in left:
            os.kill(number, 9)
        self.expect(not left, f"processes are left over: {left}")
        return process.returncode, out, errors

    @staticmethod
    def marked(mark):
        found = []
        for number in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{number}/environ", "rb") as file:
                    if f"{MARK}={mark}".encode() in file.read():
                        found.append(int(number))
            except OSError:
                pass  # it has ended, or is not ours
        return found

    def check_refusal(self, code, errors):
        """The words of a refusal, without what differs from one to the next."""
        self.expect(code in (2, 6), f"exit code {code}\n{errors}")
        # Where several processes refuse, one may notice first that another has ended.
        said = [one.split("heddle: ", 1)[1] for one in errors.splitlines()
                if re.match(r"(\[node \d+\] )?heddle: ", one) and "this is run" not in one and " was lost (" not in one]
        # Messages that no thread receives yet may fill all control blocks of a dispatcher (docs/models/messaging.md).
        if said and said[0].startswith("deadlock: ") and "control_blocks" in self.experiment.sections["workload"]:
            return "control blocks that are all taken"
        self.expect(said and not any(words in errors for words in NOT_A_REFUSAL), f"exit code {code} is no refusal:\n{errors}")
        place = re.search(r"(run|base)\.yaml:\d+: |machine\.xml|\b(platform|schedule|transport|workload)\.[a-z_]+", said[0])
        self.expect(place, f"the refusal names neither a line nor a key:\n{errors}")
        return re.sub(r"[0-9.]+", "#", said[0].split(";")[0].rsplit(": ", 1)[-1])[:100]

    def result(self, code, out, errors):
        self.expect(code == 0, f"exit code {code}\n{errors}")
        result = json.loads(out)
        self.expect(result["ok"] and result["check"]["verdict"] != "wrong", f"not right: {result['check']}")
        return result

    # --- a simulation

    def simulate(self, name, threads, *more, file="run.yaml"):
        return self.command("run", file, "--json", "--out", name, "--sim-threads", str(threads), *more)

    def run_simulated(self):
        """What kind of refusal it was, or an empty text."""
        done = self.simulate("one", 1)
        if done[0] in (2, 6) and not done[1]:
            return self.check_refusal(done[0], done[2])
        result = self.result(*done)
        self.check_times(result)
        self.check_steals(result)
        if result["configuration"]["platform"].get("compute") == "measured":
            return ""
        three = 1 if "thread" in SANITIZER else 3  # ThreadSanitizer of gcc 12 fails where fibers go on in another thread
        self.result(*self.simulate("three", three, "--record", "--trace", "three.pftrace"))
        self.expect_equal("one", "three", "a record and three threads")
        self.check_record("three", result)
        if self.experiment.seed % 3 == 0:
            self.result(*self.simulate("again", 1))
            self.expect_equal("one", "again", "another run")
        if self.experiment.seed % 3 == 1:
            self.check_report(result)
        self.check_resolved(result)
        self.check_small_world(result)
        self.check_promise(result)
        if self.experiment.seed % 5 == 0:
            self.check_repeated(result)
        self.check_table(result)
        return ""

    def check_times(self, result):
        makespan = picoseconds(result["makespan_seconds"])
        # Nodes of a platform file may differ in their cores; the record says how many workers there are.
        workers = result["nodes"] * result["cores"] if isinstance(result["cores"], int) else sum(result["cores"])
        times = sum(picoseconds(seconds) for seconds in result["time_seconds"].values())
        rounding = sum(picoseconds(seconds) for seconds in result["time_seconds"].values()) // 10**14  # doubles have 53 bits
        if "members" not in result:
            self.expect(abs(times - makespan * workers) <= 5 + rounding, f"times in states are {times} ps, not {workers} x {makespan}")
        bound = result["lower_bound_seconds"]
        self.expect(bound is None or bound <= result["makespan_seconds"] * (1 + 1e-9), f"the bound {bound} is above the makespan {result['makespan_seconds']}")

    def check_steals(self, result):
        steals = result["steals"]
        self.expect(sum(entry[2] for entry in steals["matrix"]) == steals["between_nodes"], "the steal matrix does not add up")
        self.expect(all(entry[0] != entry[1] and entry[2] > 0 for entry in steals["matrix"]), "a node stole from itself, or nothing")
        stealing = result["configuration"]["schedule"]["stealing"]
        if stealing == "none" or stealing["victim"] == "none":
            self.expect(steals["within_node"] + steals["between_nodes"] == 0, "tasks were stolen although no worker may steal")

    def cell(self, name):
        cells = [one for one in os.listdir(self.path(name)) if os.path.isdir(os.path.join(self.folder, name, one))]
        self.expect(len(cells) == 1, f"{name} has {len(cells)} cells")
        return os.path.join(name, cells[0])

    def expect_equal(self, first, second, what):
        for file in ("result.json", "steals.csv"):
            a, b = (self.read(self.cell(name), file) for name in (first, second))
            self.expect(a == b, f"{file} differs with {what}:\n{first_difference(a, b)}")
        self.expect(self.read(first, "runs.csv") == self.read(second, "runs.csv"), f"runs.csv differs with {what}")

    def table(self, *names):
        return list(csv.DictReader(io.StringIO(self.read(*names))))

    def check_record(self, name, result):
        workers = self.table(self.cell(name), "workers.csv")
        makespan = picoseconds(result["makespan_seconds"])
        states = [column for column in workers[0] if column.endswith("_seconds")]
        for row in workers:
            times = sum(picoseconds(row[state]) for state in states)
            self.expect(times == makespan, f"workers.csv: {row['node']}.{row['worker']} has {times} ps, not {makespan}")
        tasks = self.table(self.cell(name), "tasks.csv")
        tasks = [row for row in tasks if row["kernel"] != "earth.main"]  # what a run begins with, which is not counted
        self.expect(len(tasks) <= result["tasks"], f"tasks.csv has {len(tasks)} tasks of {result['tasks']}")
        if self.is_counted():
            self.expect(len(tasks) == result["tasks"], f"tasks.csv has {len(tasks)} tasks, not {result['tasks']}")
        for row in tasks:
            ready, start, end = (picoseconds(row[key] or 0) for key in ("ready_seconds", "start_seconds", "end_seconds"))
            self.expect(ready <= start <= end <= makespan, f"tasks.csv: {row}, and the makespan is {makespan} ps")
        moved = sum(1 for row in tasks if row["stolen_from_node"])
        steals = result["steals"]
        self.expect(moved <= steals["within_node"] + steals["between_nodes"] + len(tasks), f"{moved} stolen tasks, and steals {steals}")

    def check_report(self, result):
        """The causes of all workers' time, and those of the critical path."""
        code, _, errors = self.command("report", "three", "--out", "page.html")
        self.expect(code == 0, f"heddle report: exit code {code}\n{errors}")
        tables = dict(re.findall(r'download="([^"]+)\.csv" href="data:text/csv;charset=utf-8([^"]*)"', self.read("page.html")))

        def seconds_of(name):
            coding, text = tables[name].split(",", 1)
            text = base64.b64decode(text).decode() if "base64" in coding else urllib.parse.unquote(text)
            return {row["cause"]: picoseconds(row["seconds"]) for row in csv.DictReader(io.StringIO(text))}
        makespan, workers = picoseconds(result["makespan_seconds"]), len(self.table(self.cell("three"), "workers.csv"))
        for name, expected in (("causes", makespan * workers), ("critical-path-causes", makespan)):
            if name not in tables:
                self.expect(name != "causes" or makespan == 0 or result["tasks"] == 0, "the report has no table of causes")
                continue
            causes = seconds_of(name)
            total = causes.pop("sum")
            self.expect(sum(causes.values()) == total == expected, f"{name}: {causes} add up to {sum(causes.values())} ps, said {total}, not {expected}")

    def check_resolved(self, result):
        """The resolved configuration is the same experiment."""
        code, out, errors = self.command("run", "run.yaml", "--resolve")
        self.expect(code == 0, f"--resolve: exit code {code}\n{errors}")
        self.write("resolved.yaml", out)
        code, again, errors = self.command("run", "resolved.yaml", "--resolve")
        self.expect(code == 0 and out == again, f"the resolved configuration does not read back: exit code {code}\n{errors}{first_difference(out, again)}")
        if self.experiment.seed % 3 == 2:
            done = self.result(*self.simulate("resolved", 1, file="resolved.yaml"))
            for key in ("answer", "makespan_seconds", "messages", "bytes", "tasks", "steals", "cell"):
                self.expect(done[key] == result[key], f"{key} of the resolved configuration is {done[key]}, not {result[key]}")

    def is_counted(self):
        sections = self.experiment.sections
        return (sections["workload"]["name"] in COUNTED and sections["schedule"].get("pruning", {}).get("policy", "none") == "none")

    def check_small_world(self, result):
        """Without a simulated machine, interleaved by a seed, it gives the same answer, with as many tasks."""
        code, out, errors = self.command("run", "run.yaml", "--json", "--backend", "inprocess")
        if code in (2, 6):
            self.check_refusal(code, errors)
            return
        other = self.result(code, out, errors)
        if "file" in self.experiment.sections["platform"]:
            return  # it does not read that, and has one node
        for key in ("tasks", "declared_flops") if self.is_counted() else ():
            self.expect(abs(other[key] - result[key]) <= 1e-9 * result[key], f"{key}: {result[key]}, but {other[key]} inprocess")
        for key, value in result["answer"].items():
            if not OF_THE_SCHEDULE.search(key):
                self.expect(other["answer"].get(key) == value, f"{key} is {value}, but {other['answer'].get(key)} inprocess")

    def check_table(self, result):
        """Without overheads and stealing a placement that is read from the table of the run takes the same time."""
        sections = self.experiment.sections
        configuration = result["configuration"]
        if (sections["workload"]["name"] not in ("dag", "cholesky", "lu") or configuration["platform"]["overheads"] != "none" or
                sections["schedule"].get("placement", "none") == "none" or "members" in result or
                (configuration["schedule"]["stealing"] != "none" and configuration["schedule"]["stealing"]["victim"] != "none")):
            return
        shutil.copy(os.path.join(self.folder, self.cell("three"), "tasks.csv"), self.path("table.csv"))
        schedule = {**sections["schedule"], "placement": "file", "placement_file": "table.csv"}
        self.write("by_table.yaml", self.experiment.yaml(schedule=schedule))
        again = self.result(*self.simulate("table", 1, file="by_table.yaml"))
        self.expect(again["makespan_seconds"] == result["makespan_seconds"],
                    f"by its own table it takes {again['makespan_seconds']} s, not {result['makespan_seconds']}")

    def check_promise(self, result):
        """What a plan without overheads, contention and stealing promises is what it takes."""
        platform, schedule = (result["configuration"][key] for key in ("platform", "schedule"))
        if result["workload"] not in ("dag", "cholesky", "lu") or "members" in result:
            return
        if schedule["stealing"] == "none" or schedule["stealing"]["victim"] == "none":
            self.expect(result["data_bytes"] == result["promised_data_bytes"],
                        f"{result['data_bytes']} bytes of data, not {result['promised_data_bytes']} as promised, and nothing is stolen")
            network = platform.get("network", {"contention": "full"})  # that of a platform file is there if it is stated
            if (platform["overheads"] == "none" and network["contention"] == "none" and not platform.get("networks") and not platform["events"] and
                    network.get("gap", "0s") == "0s" and not any(platform["noise"].values()) and schedule["placement"] != "none" and
                    schedule["modules"] == "separate" and result["promised_seconds"] is not None):
                promised, makespan = picoseconds(result["promised_seconds"]), picoseconds(result["makespan_seconds"])
                self.expect(abs(promised - makespan) <= 2 + 4 * result["tasks"] + promised // 10**9, f"{makespan} ps, and {promised} promised")

    def check_repeated(self, result):
        """The first of several runs of one process, and the second beside the seed alone."""
        seed = self.experiment.sections["seed"]
        together = self.result(*self.command("run", "run.yaml", "--json", "--repeat", "2", "--sim-threads", "1"))["runs"]
        alone = [result, self.result(*self.command("run", "run.yaml", "--json", "--seed", str(seed + 1), "--sim-threads", "1"))]
        for one, other in zip(together, alone):
            for key in set(one) & set(other) - {"wall_seconds", "placement_seconds", "peak_memory_bytes", "configuration", "cell", "determinants"}:
                self.expect(one[key] == other[key], f"{key} is {one[key]} where several runs share a process, {other[key]} alone")

    # --- a native run

    def run_native(self):
        nodes, start = self.experiment.nodes, self.experiment.sections["platform"].get("nodes_at_start")
        capacity = ("--capacity", str(nodes)) if start else ()
        code, out, errors = self.command("launch", "-n", str(start or nodes), *capacity, "--", "heddle", "run", "run.yaml", "--json")
        if code in (2, 6) and not out:
            return self.check_refusal(code, errors)
        result = self.result(code, out, errors)
        self.check_steals(result)
        self.expect(result["nodes"] == nodes and len(result["hosts"]) in {nodes} | ({nodes} if not start else set(range(start, nodes))),
                    f"{result['nodes']} nodes, not {nodes}, on {result['hosts']}")
        return ""


def first_difference(a, b):
    for one, other in zip(re.split(r"(?<=[,\n])", a), re.split(r"(?<=[,\n])", b)):
        if one != other:
            return f"{one.strip()} became {other.strip()}"
    return "one is longer"


def check_seed(heddle, schema, seed):
    """(what is wrong, or nothing; the refusal, or nothing)"""
    native = not has_simulator() or seed % 4 == 0
    experiment = Experiment(schema, seed, native, hardware_faults=not SANITIZER)
    with tempfile.TemporaryDirectory() as folder:
        check = Check(heddle, experiment, folder)
        try:
            return None, check.run_native() if native else check.run_simulated()
        except (Wrong, ValueError, KeyError, OSError) as error:
            last = " ".join(check.commands[-1]) if check.commands else ""
            print(f"\nWRONG, seed {seed}: {error if isinstance(error, Wrong) else repr(error)}\nheddle {last}", flush=True)
            for name in ("run.yaml", *experiment.files):
                print(f"--- {name}\n{check.read(name)}", end="", flush=True)
            return error, ""


def main():
    arguments = script_arguments("heddle")
    first = int(os.environ.get("HEDDLE_RANDOM_SEED", 1))
    runs = int(os.environ.get("HEDDLE_RANDOM_RUNS", 30 if SANITIZER else 800))
    heddle = os.path.abspath(arguments.heddle)  # its runs have folders of their own
    schema = Schema(heddle)
    failed, refused = [], collections.Counter()
    for seed in range(first, first + runs):
        wrong, refusal = check_seed(heddle, schema, seed)
        if wrong:
            failed.append(seed)
        elif refusal:
            refused[refusal] += 1
    for refusal, times in refused.most_common():
        print(f"refused {times} times: {refusal}")
    print(f"{runs} experiments, {sum(refused.values())} refused, {len(failed)} wrong{': seeds ' if failed else ''}{', '.join(map(str, failed))}")
    # A generator whose experiments are all refused would test nothing.
    return 1 if failed or (runs >= 20 and sum(refused.values()) > runs / 2) else 0


if __name__ == "__main__":
    sys.exit(main())
