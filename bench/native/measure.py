"""Runs the programs of a build in turn, and prints tables of what they said."""

import json
import os
import statistics
import subprocess
import sys


class NotThere(Exception):
    """A group needs the runs of a program that was not built, or that the file of earlier runs does not have."""


class Found(dict):
    """Results by the names of cases. To ask for one that is missing ends the group; `get` and `in` only ask."""

    def __missing__(self, name):
        raise NotThere(" ".join(map(str, name)) if isinstance(name, tuple) else str(name))


def medians(runs):
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}


def read_runs(path):
    """{(group, words before the command, command): runs} of a file that --json wrote. A case of Open MPI whose words before the command were not
    written cannot be told from its others: nothing finds it."""
    with open(path, encoding="utf-8") as file:
        return {(case["group"], tuple(case.get("before", ())), tuple(case["command"])): case["runs"] for case in json.load(file)}


class Bench:
    """The programs of a build, and all that they have said."""

    def __init__(self, folder, runs, quick, fastest, earlier, file):
        self.folder, self.runs, self.quick, self.fastest, self.earlier, self.file = folder, runs, quick, fastest, earlier, file
        self.all = []

    def has(self, program):
        if self.earlier:
            return any(command[0] == program for _, _, command in self.earlier)
        return os.path.exists(os.path.join(self.folder, program))

    def once(self, before, command, expected):
        done = subprocess.run([*before, os.path.join(self.folder, command[0]), *command[1:]], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
        said = json.loads(done.stdout)
        if expected is not None and said["value"] != expected:
            sys.exit(f"{' '.join(command)}: {said['value']}, and not {expected}")
        return said

    def all_runs(self, group, cases, expected=None):
        """cases: {name: (words before the command, command)}. Runs all of them in turn, several times, and returns
        {name: [what it said in each run]}. A program that was not built is left out, if another one was."""
        cases = {name: (tuple(before), tuple(map(str, command))) for name, (before, command) in cases.items()}
        if self.earlier:
            said = {name: self.earlier[group, *case] for name, case in cases.items() if (group, *case) in self.earlier}
        else:
            said = {name: [] for name, (_, command) in cases.items() if self.has(command[0])}
            for _ in range(self.runs):
                for name in said:
                    right = expected[name] if isinstance(expected, dict) else expected
                    said[name].append(self.once(*cases[name], right))
        if not said:
            raise NotThere(" ".join(next(iter(cases.values()))[1]))
        self.all += [{"group": group, "before": cases[name][0], "command": cases[name][1], "runs": runs} for name, runs in said.items()]
        if self.file:
            with open(self.file, "w", encoding="utf-8") as file:
                json.dump(self.all, file, indent=1)
        return Found(said)

    def shown(self, runs):
        """What is printed of a case's runs: {what it says: median}, or the fastest run. What decides which case is measured next
        takes medians always, so that the same file leads to the same cases with --fastest."""
        return dict(min(runs, key=lambda run: next(iter(run.values())))) if self.fastest else medians(runs)

    def alternate(self, group, cases, expected=None):
        """As all_runs, but returns {name: what is printed of it}."""
        return Found({name: self.shown(runs) for name, runs in self.all_runs(group, cases, expected).items()})


def table(*names):
    print("| " + " | ".join(names) + " |\n|" + "---|" * len(names), flush=True)
    return lambda *cells: print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def ratio(value, other, digits=2):
    return f"{value / other:.{digits}f}" if value and other else ""
