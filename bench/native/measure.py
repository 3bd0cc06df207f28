"""Runs the programs of a build in turn, and prints tables of what they said."""

import json
import os
import statistics
import subprocess
import sys


class Bench:
    """The programs of a build, and all that they have said."""

    def __init__(self, folder, runs, quick, fastest, earlier, file):
        self.folder, self.runs, self.quick, self.fastest, self.earlier, self.file = folder, runs, quick, fastest, earlier, file
        self.all = []

    def has(self, program):
        return bool(self.earlier) or os.path.exists(os.path.join(self.folder, program))

    def once(self, before, command, expected):
        done = subprocess.run([*before, os.path.join(self.folder, command[0]), *command[1:]], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
        said = json.loads(done.stdout)
        if expected is not None and said["value"] != expected:
            sys.exit(f"{' '.join(command)}: {said['value']}, and not {expected}")
        return said

    def alternate(self, group, cases, expected=None):
        """cases: {name: (words before the command, command)}. Runs all of them in turn, several times, and returns
        {name: {what it says: median}}, or of the fastest run. A program that was not built is left out."""
        cases = {name: (before, list(map(str, command))) for name, (before, command) in cases.items()}
        if self.earlier:
            said = {name: self.earlier[group, *command] for name, (_, command) in cases.items()
                    if (group, *command) in self.earlier}
        else:
            said = {name: [] for name, (_, command) in cases.items() if self.has(command[0])}
            for _ in range(self.runs):
                for name in said:
                    right = expected[name] if isinstance(expected, dict) else expected
                    said[name].append(self.once(*cases[name], right))
        self.all += [{"group": group, "command": cases[name][1], "runs": runs} for name, runs in said.items()]
        if self.file:
            with open(self.file, "w", encoding="utf-8") as file:
                json.dump(self.all, file, indent=1)
        if self.fastest:
            return {name: dict(min(runs, key=lambda run: next(iter(run.values())))) for name, runs in said.items()}
        return {name: {key: statistics.median(run[key] for run in runs) for key in runs[0]} for name, runs in said.items()}


def table(*names):
    print("| " + " | ".join(names) + " |\n|" + "---|" * len(names), flush=True)
    return lambda *cells: print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def ratio(value, other, digits=2):
    return f"{value / other:.{digits}f}" if value and other else ""
