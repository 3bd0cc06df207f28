"""For tests: runs a comparison with a file and directories of its own, kills it and resumes it."""

import csv
import os
import random
import signal
import subprocess
import time

SECONDS_MAX = 300


class Comparison:
    def __init__(self, heddle, folder, text):
        self.heddle, self.folder = heddle, folder
        self.file = os.path.join(folder, "a.yaml")
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(text)

    def command(self, out, *words):
        return [self.heddle, "compare", self.file, "--out", os.path.join(self.folder, out), *words]

    def run(self, out, *words, code=0, **more):
        done = subprocess.run(self.command(out, *words), capture_output=True, text=True, timeout=SECONDS_MAX, **more)
        assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
        return done

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def read(self, *names):
        with open(self.path(*names), "rb") as file:
            return file.read()

    def rows(self, *names):
        with open(self.path(*names), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def finished(self, out):
        folder = self.path(out)
        return {name for name in (os.listdir(folder) if os.path.isdir(folder) else [])
                if os.path.exists(os.path.join(folder, name, "result.json"))}


def processes_that_mention(text):
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                if text.encode() in file.read() and int(entry) != os.getpid():
                    found.append(int(entry))
        except OSError:
            pass
    return found


def killed(comparison, seed, count):
    """kill -9 three times at random moments, each after some new cells at least; then resumed. The tables in "calm" are those of an
    undisturbed comparison of `count` cells."""
    chance, out = random.Random(seed), f"killed{seed}"
    wanted = sorted(chance.sample(range(1, count - 4), 3))
    seen = []
    for number in wanted:
        run = subprocess.Popen(comparison.command(out, "--jobs", "2"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + SECONDS_MAX
        while len(comparison.finished(out)) < number and run.poll() is None and time.monotonic() < end:
            time.sleep(0.001)
        time.sleep(chance.uniform(0, 0.05))
        os.kill(run.pid, signal.SIGKILL)
        assert run.wait() == -signal.SIGKILL, "it was over before it could be killed"
        end = time.monotonic() + 10
        while left := processes_that_mention(comparison.path(out)):
            assert time.monotonic() < end, f"processes are left: {left}"
            time.sleep(0.01)
        seen.append(len(comparison.finished(out)))
    assert seen[-1] < count, seen
    done = comparison.run(out)
    assert f"{seen[-1]} of them there already" in done.stderr, done.stderr
    for name in ("runs.csv", "comparison.csv"):
        assert comparison.read(out, name) == comparison.read("calm", name), name
    left = [name for _, _, names in os.walk(comparison.path(out)) for name in names if name.endswith(".tmp")]
    assert not left, left
    print(f"killed with {seen} of {count} cells finished: the same tables")
