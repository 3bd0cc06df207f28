"""Tests scripts/fresh-machine. It makes its bare system once and whole, and runs a command in a clean clone of HEAD. It
passes the exit code on and leaves nothing behind. If there can be no fresh machine, it says why.
scripts/debian-sources takes Debian's own apt sources only. Stand-ins replace debootstrap, mount, chroot and the
namespaces, so neither root nor a network is needed.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile

from script_arguments import script_arguments

STAND_INS = {
    "id": 'echo "${USER_ID:-0}"\n',
    "unshare": '[ ! -e "$STATE/no-namespaces" ] || exit 1; while [ "${1#--}" != "$1" ]; do shift; done; exec "$@"\n',
    "setpriv": 'shift 2; exec "$@"\n',
    "mount": 'case "$*" in *overlay*) exit 1 ;; esac\n',  # there is no overlay, so the machine is a copy
    "debootstrap": """echo made >> "$STATE/bases"
for target; do case "$target" in */new.*) break ;; esac; done
mkdir -p "$target/etc/dpkg/dpkg.cfg.d" "$target/etc/apt/apt.conf.d" "$target/proc" "$target/sys" "$target/dev"
[ ! -e "$STATE/no-network" ] || { echo "E: cannot reach it"; exit 1; }\n""",
    "apt-get": 'echo "apt-get $*" >> "$STATE/calls"; exit 100\n',
    # chroot MACHINE env -i ... sh -c TEXT sh COMMAND
    "chroot": 'for command; do :; done; cd "$1/src/heddle" && exec sh -c "$command"\n',
}

SOURCES = {
    "sources.list": "# deb http://deb.debian.org/debian bookworm main\n"
                    "deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://mirror.example/debian/ bookworm main contrib\n"
                    "deb-src http://mirror.example/debian bookworm main\n"
                    "deb http://security.debian.org/debian-security bookworm-security main # updates\n"
                    "deb http://mirror.example/debian bookworm-backports main\n"
                    "deb http://mirror.example/debian trixie main\n",
    "sources.list.d/others.list": "deb https://apt.vendor.example bookworm main\n"
                                  "deb [signed-by=/usr/share/keyrings/vendor.gpg] https://vendor.example/linux/debian bookworm main\n"
                                  "deb https://vendor.example/linux/debian bookworm stable\n",
    "sources.list.d/debian.sources": "Types: deb deb-src\n# a snapshot\nURIs: http://snapshot.debian.org/archive/debian/20250520T000000Z\n"
                                     "Suites: bookworm\n bookworm-updates\nComponents: main\n"
                                     "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n\n"
                                     "Enabled: no\nTypes: deb\nURIs: http://off.example/debian\nSuites: bookworm\nComponents: main\n",
}
EXPECTED_SOURCES = """deb http://mirror.example/debian/ bookworm main
deb http://security.debian.org/debian-security bookworm-security main
deb http://snapshot.debian.org/archive/debian/20250520T000000Z bookworm main
deb http://snapshot.debian.org/archive/debian/20250520T000000Z bookworm-updates main
"""


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def check_sources(scripts):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in SOURCES.items():
            write(os.path.join(folder, name), text)
        output = subprocess.run([os.path.join(scripts, "debian-sources"), "bookworm", folder], capture_output=True, text=True, check=True)
        assert output.stdout == EXPECTED_SOURCES, output.stdout
        empty = subprocess.run([os.path.join(scripts, "debian-sources"), "bookworm", folder + "/none"], capture_output=True, text=True, check=True)
        assert empty.stdout == "", empty.stdout


class Project:
    """A small project with the two scripts, one commit, and a folder `shared` beside it."""

    def __init__(self, scripts, folder):
        self.root, self.state, self.cache = (os.path.join(folder, name) for name in ("mine", "state", "cache"))
        for name in ("fresh-machine", "debian-sources"):
            os.makedirs(os.path.join(self.root, "scripts"), exist_ok=True)
            shutil.copy(os.path.join(scripts, name), os.path.join(self.root, "scripts", name))
        for name, text in STAND_INS.items():
            write(os.path.join(self.state, name), "#!/bin/sh\n" + text, 0o755)
        write(os.path.join(folder, "shared", "data.txt"), "data\n")
        write(os.path.join(self.root, "committed.txt"), "committed\n")
        for command in (["init", "-q"], ["add", "."], ["-c", "user.name=Test", "-c", "user.email=test@example.org", "commit", "-q", "-m", "One"]):
            subprocess.run(["git", "-C", self.root, *command], check=True)
        self.environment = {"PATH": self.state + ":/usr/sbin:/usr/bin:/sbin:/bin", "STATE": self.state, "HEDDLE_FRESH": self.cache}

    def start(self, *arguments, **settings):
        return subprocess.Popen([os.path.join(self.root, "scripts", "fresh-machine"), *arguments], env={**self.environment, **settings}, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, *arguments, **settings):
        process = self.start(*arguments, **settings)
        output, errors = process.communicate(timeout=60)
        return process.returncode, output, errors

    def left(self):
        return sorted(name for name in os.listdir(self.cache) if name.startswith(("run.", "new.")))

    def bases(self):
        with open(os.path.join(self.state, "bases"), encoding="utf-8") as file:
            return len(file.read().split())


def check_arguments(project):
    for arguments in ([], ["a", "b"], [""], ["--unknown"]):
        code, output, errors = project.run(*arguments)
        assert code == 2 and "usage:" in errors and output == "", (arguments, code, output, errors)
    code, output, _ = project.run("--help")
    assert code == 0 and "scripts/fresh-machine COMMAND" in output and "--check" in output, output
    code, _, errors = project.run("true", USER_ID="1000")
    assert code == 2 and "needs root" in errors, errors


def check_refusals(project):
    write(os.path.join(project.state, "no-namespaces"), "")
    code, _, errors = project.run("true")
    assert code == 2 and "namespaces" in errors, errors
    os.remove(os.path.join(project.state, "no-namespaces"))

    write(os.path.join(project.state, "no-network"), "")
    code, _, errors = project.run("true")
    assert code == 2 and "E: cannot reach it" in errors, errors
    assert project.left() == [] and not any("bookworm" in name for name in os.listdir(project.cache)), "half a base is left"
    os.remove(os.path.join(project.state, "no-network"))


def check_runs(project):
    before = project.bases()
    code, output, errors = project.run("cat committed.txt; echo inside > new.txt; exit 7")
    assert code == 7 and output == "committed\n", (code, output, errors)
    write(os.path.join(project.root, "committed.txt"), "changed\n")
    code, output, errors = project.run("cat committed.txt new.txt")
    assert code == 1 and output == "committed\n" and "changes since are not in it" in errors, (code, output, errors)
    assert project.bases() == before + 1, "the base is made once"
    assert project.left() == []
    code, _, errors = project.run("--check")
    assert code == 2 and "packages cannot be reached: " in errors, errors


def check_signals(project):
    """A run that is terminated cleans up at once; the next run cleans up after one that was killed."""
    for number, code in ((signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, -9)):
        process = project.start("echo $$; exec sleep 600")
        sleeper = int(process.stdout.readline())
        process.send_signal(number)
        assert process.wait(timeout=60) == code, process.returncode
        with contextlib.suppress(ProcessLookupError):
            os.kill(sleeper, signal.SIGKILL)  # the stand-ins have no namespace whose end would do that
        assert len(project.left()) == (1 if number == signal.SIGKILL else 0), (number, project.left())
    code, output, errors = project.run("echo next")
    assert (code, output) == (0, "next\n") and project.left() == [], (code, output, errors, project.left())


def main():
    scripts = os.path.join(script_arguments().source, "scripts")
    check_sources(scripts)
    with tempfile.TemporaryDirectory() as folder:
        project = Project(scripts, folder)
        check_arguments(project)
        code, _, errors = project.run("true")
        if "not Debian 12" in errors or "no apt source" in errors:
            print(f"Only the arguments and the sources are tested here: {errors}")
            return 0
        shutil.rmtree(project.cache)
        check_refusals(project)
        check_runs(project)
        check_signals(project)
    return 0


if __name__ == "__main__":
    sys.exit(main())
