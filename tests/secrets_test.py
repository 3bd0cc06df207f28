"""Tests that the key of a launched run is nowhere to be found while it runs: in no environment, command line or file.
Nodes that protect their messages in different ways refuse each other. native_wire_test.cpp looks at what travels.
"""

import os
import re
import subprocess
import sys
import tempfile

from outside_a_job import ENVIRONMENT
from script_arguments import script_arguments

SECONDS_MAX = 120
failures = []

# Run as a node: prints where its key is found. With the word `planted`, a process has the key in its environment and on its
# command line, and a file has it, so that the search is seen to find them.
NODE = """
import os, subprocess, sys, time
with open(os.environ["HEDDLE_KEY_FILE"], "rb") as file:
    key = file.read().strip()
forms = (key, bytes.fromhex(key.decode()), key.upper())
planted = None
if "planted" in sys.argv:
    with open("planted", "wb") as file:
        file.write(b"key: " + key)
    planted = subprocess.Popen([sys.executable, "-c", "input()", key.decode()], stdin=subprocess.PIPE,
                               env={**os.environ, "SECRET": key.decode()})
    time.sleep(0.2)
def has_key(path):
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError:
        return False
    return any(form in content for form in forms)
for process in filter(str.isdigit, os.listdir("/proc")):
    for place in ("environ", "cmdline"):
        if has_key(f"/proc/{process}/{place}"):
            print("found in", place)
for folder in (".", "/tmp", "/dev/shm", "/run"):
    for base, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if base == folder or folder == "."]
        for name in files:
            path = os.path.join(base, name)
            try:
                recent = os.path.isfile(path) and os.stat(path).st_mtime > time.time() - 60 and os.path.getsize(path) < 1 << 20
            except OSError:
                continue
            if recent and has_key(path):
                print("found in file", os.path.basename(path))
if planted:
    planted.communicate(b"\\n")
print("searched")
"""


def check(condition, what):
    if not condition:
        failures.append(what)


def run(*words, folder=None):
    return subprocess.run(words, env=ENVIRONMENT, cwd=folder, capture_output=True, text=True, timeout=SECONDS_MAX)


def key_is_nowhere(heddle, folder):
    for words, expected in ((("planted",), {"environ", "cmdline", "file planted"}), ((), set())):
        result = run(heddle, "launch", "-n", "2", "--", sys.executable, "-c", NODE, *words, folder=folder)
        check(result.returncode == 0, f"the search failed: {result.stderr}")
        check("searched" in result.stdout and "searched" in result.stderr, f"a node did not search: {result}")
        found = set(re.findall(r"found in (.*)", result.stdout + result.stderr))
        check(found == expected, f"the key was found in {found}, expected: {expected}")
        if words:
            os.remove(os.path.join(folder, "planted"))


def nodes_that_differ(heddle, folder):
    file = os.path.join(folder, "nqueens.yaml")
    with open(file, "w", encoding="utf-8") as stream:
        stream.write("workload: {name: nqueens, n: 8}\nbackend: native\nplatform: {cores: 1}\n")
    command = (f"test $HEDDLE_RANK = 0 && set integrity || set encryption; "
               f"exec {heddle} run {file} --set transport.protection=$1")
    result = run(heddle, "launch", "-n", "2", "--", "sh", "-c", command)
    check(result.returncode == 2, f"nodes that protect their messages in different ways: exit code {result.returncode}")
    expected = 'transport.protection is "integrity" on node 0 and "encryption" on node 1'
    check(expected in result.stderr, f"{expected} is not in\n{result.stderr}")


def main():
    arguments = script_arguments("heddle")
    heddle = os.path.abspath(arguments.heddle)
    with tempfile.TemporaryDirectory() as folder:
        key_is_nowhere(heddle, folder)
        nodes_that_differ(heddle, folder)
    print("\n".join(failures) or "the key is nowhere")
    sys.exit(1 if failures else 0)


main()
