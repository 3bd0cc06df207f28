"""Tests scripts/check-all with commands that do nothing: which steps run, which are skipped, and what the table says."""

import os
import shutil
import subprocess
import sys
import tempfile

from script_arguments import SKIPPED, script_arguments

TESTS = ("release", "release_scripts", "address", "address_scripts", "thread", "thread_scripts", "nosim")
STEPS = ("release", "release_scripts", "benchmarks", *TESTS[2:], "tidy", "fuzz")


class Project:
    """A repository with the script, in which cmake, ctest, scripts/tidy and scripts/fuzz fail if the file `broken` names them."""

    def __init__(self, folder, script):
        self.folder = os.path.join(folder, "project")
        os.makedirs(os.path.join(self.folder, "scripts"))
        shutil.copy(script, os.path.join(self.folder, "scripts", "check-all"))
        self.write(".gitignore", "build/\n")
        self.write("source", "")
        for name in ("programs/cmake", "programs/ctest", "scripts/tidy", "scripts/fuzz"):
            self.write(name, '#!/bin/sh\necho "$0 $*" >>build/ran\n! grep -qsx "$(basename "$0")" build/broken\n')
            os.chmod(os.path.join(self.folder, name), 0o755)
        self.git("init", "-q")
        self.commit()

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def git(self, *words):
        command = ["git", "-c", "user.name=test", "-c", "user.email=test@localhost", *words]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=True).stdout.strip()

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "A commit")
        return self.git("rev-parse", "--short=12", "HEAD")

    def check(self, *steps):
        """The exit code, the steps that ran, and for each step what the table says."""
        environment = {**os.environ, "PATH": os.path.join(self.folder, "programs") + ":" + os.environ["PATH"]}
        done = subprocess.run([os.path.join(self.folder, "scripts", "check-all"), *steps], env=environment, capture_output=True, text=True, timeout=60)
        ran = [line.split()[1].rstrip(":") for line in done.stdout.splitlines() if line.startswith("=== ") and "summary" not in line]
        _, _, table = done.stdout.partition("=== summary")
        said = {words[0]: " ".join(words[1:]) for words in map(str.split, table.splitlines()[1:])}
        return done.returncode, ran, said


def begins(said, step, start):
    assert said[step].startswith(start), (step, said)


def main():
    arguments = script_arguments()
    if not shutil.which("git"):
        print("skipped: there is no git")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        project = Project(folder, os.path.join(arguments.source, "scripts", "check-all"))
        first = project.git("rev-parse", "--short=12", "HEAD")

        # A step that is named runs alone, each time.
        for _ in range(2):
            code, ran, said = project.check("tidy")
            assert (code, ran) == (0, ["tidy"]), (code, ran)
            begins(said, "tidy", f"passed now passed for {first} in ")
            begins(said, "release", "not asked for never passed")
        assert tuple(said) == STEPS, said

        # All: those that have not passed for this commit. One that fails stops no other.
        project.write("build/broken", "ctest\n")
        code, ran, said = project.check()
        assert (code, ran) == (1, [step for step in STEPS if step != "tidy"]), (code, ran)
        begins(said, "release", "FAILED now never passed")
        begins(said, "benchmarks", f"passed now passed for {first} in ")
        begins(said, "tidy", f"passed before passed for {first} in ")
        project.write("build/broken", "")
        code, ran, said = project.check()
        assert (code, ran) == (0, list(TESTS)), (code, ran)
        code, ran, said = project.check()
        assert (code, ran) == (0, []), (code, ran)

        # A step that fails again has not passed for this commit.
        project.write("build/broken", "tidy\n")
        code, _, said = project.check("tidy")
        assert code == 1
        begins(said, "tidy", "FAILED now never passed")
        code, ran, _ = project.check()
        assert (code, ran) == (1, ["tidy"]), (code, ran)
        project.write("build/broken", "")

        # Another commit: what passed for the first one says so, and runs.
        second = project.commit()
        code, ran, said = project.check("tidy", "benchmarks")
        assert (code, ran) == (0, ["tidy", "benchmarks"]), (code, ran)
        begins(said, "release", f"not asked for passed for {first} in ")
        begins(said, "tidy", f"passed now passed for {second} in ")

        # What passed with changes has passed for no commit.
        project.write("source", "changed")
        for _ in range(2):
            code, ran, said = project.check()
            assert (code, tuple(ran)) == (0, STEPS), (code, ran)
            begins(said, "tidy", f"passed now passed for {second}+ in ")
        project.write("source", "")
        code, ran, said = project.check()
        assert (code, tuple(ran)) == (0, STEPS), (code, ran)

        # The steps call what they say.
        with open(os.path.join(project.folder, "build", "ran"), encoding="utf-8") as file:
            called = {line.strip().replace(project.folder + "/", "") for line in file}
        assert called == {*(f"programs/cmake --preset {name} --log-level=WARNING" for name in ("release", "asan", "tsan", "nosim")),
                          "programs/cmake --build --preset release --target all slow_tests", "programs/cmake --build --preset release --target benches",
                          *(f"programs/cmake --build --preset {name} --target all" for name in ("asan", "tsan", "nosim")),
                          *(f"programs/ctest --preset {name} --label-{which} ^script$" for name in ("check-all", "asan", "tsan") for which in ("regex", "exclude")),
                          "programs/ctest --preset nosim", "scripts/tidy", "scripts/fuzz 20"}, called

        # A step that runs alone configures what it builds: in a fresh clone no other step has.
        os.remove(project.path("build/ran"))
        assert project.check("benchmarks")[0] == 0
        with open(project.path("build/ran"), encoding="utf-8") as file:
            called = [line.split(" ", 1)[1].strip() for line in file]
        assert called == ["--preset release --log-level=WARNING", "--build --preset release --target benches"], called

        # A step that is not there.
        assert project.check("tidy", "tydy")[0] == 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
