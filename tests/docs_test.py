"""Tests that the documents are true. It runs every `$ heddle ...` line of a ```console block in README.md and docs/ from
the project's root, and compares the output. Every verb, workload and execution model must have its page, and every
link must lead somewhere, and every folder of build/ be that of a preset.

In expected output `...` stands for anything: within a line for a part of it, alone on a line for any number of lines. In a
block ```console varying numbers, their units and the width of columns may differ as well. A line `# exit N` after a command's
output says that it fails with that exit code. Output is compared where some is shown.

TEST_PART of TEST_PARTS processes (CTest's) has every so many pages. So no two pages may write the same file.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile

from script_arguments import script_arguments

PAGES = {"verb": "docs/verbs", "workload": "docs/workloads", "execution model": "docs/models"}
# A sanitizer makes a program many times slower, and messages a little longer.
SANITIZED = bool(os.environ.get("HEDDLE_SANITIZE"))
SECONDS_MAX = 60 * (15 if SANITIZED else 1)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def examples_in(text):
    """(line number, command, expected output, exit code, whether numbers vary) for every command of the console blocks."""
    number, inside, varying, found = 0, False, False, []
    for line in text.split("\n"):
        number += 1
        if line.startswith("```"):
            inside = re.fullmatch(r"```console( varying)?", line.strip()) is not None
            varying = inside and line.strip().endswith("varying")
        elif inside and line.startswith("$ "):
            found.append([number, line[2:], [], 0, varying])
        elif inside and re.fullmatch(r"# exit \d+", line):
            found[-1][3] = int(line.split()[2])
        elif inside and found:
            # A command goes on in the next line after a backslash.
            if found[-1][1].endswith("\\"):
                found[-1][1] = found[-1][1][:-1] + line
            else:
                found[-1][2].append(line)
    return found


def without_numbers(line):
    """A line with every number (and unit of time or of bytes after it) as `#`, and every run of spaces as one space. With a sanitizer
    a simulation may have fewer threads, so that is left out."""
    line = re.sub(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?(?:\s?(?:ns|us|ms|s|min|h|B|[kMG]B)\b|%)?(?!\w)", "#", line)
    if SANITIZED:
        line = re.sub(r"(wall time\s+#), # threads", r"\1", line)
    return re.sub(r" +", " ", line)


def agrees(expected, actual, varying=False):
    """True where the output is as shown."""
    if varying:
        # A number may follow `...`, or be the end of one that it stands for. More than three points are a line of points.
        expected = [without_numbers(re.sub(r"(?<!\.)\.\.\.(?!\.)(e-\d+)?", "\0", line)).replace("\0", "...") for line in expected]
        actual = "\n".join(without_numbers(line) for line in actual.split("\n"))
    pattern = ""
    for line in expected:
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += r"[^\n]*?".join(re.escape(part.rstrip()) for part in line.rstrip().split("...")) + r"[ ]*\n"
    return re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in actual.rstrip("\n").split("\n"))) is not None


def run_shell(command, **options):
    """Returns output and exit code. After a TimeoutExpired none of the processes that it started goes on."""
    with subprocess.Popen(["sh", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          start_new_session=True, **options) as shell:
        try:
            output, _ = shell.communicate(timeout=SECONDS_MAX)
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGKILL)
            raise
        return output, shell.returncode


def run_examples(page, root, environment):
    """Runs a page's commands, with the project's root as working directory."""
    for number, command, expected, exit_code, varying in examples_in(read(os.path.join(root, page))):
        if not command.startswith("heddle "):
            continue
        try:
            output, code = run_shell(command, cwd=root, env=environment)
        except subprocess.TimeoutExpired:
            yield f"{page}:{number}: {command}\n    took more than {SECONDS_MAX} s"
            continue
        if code != exit_code:
            yield f"{page}:{number}: {command}\n    exit code {code}, not {exit_code}:\n{output}"
        elif expected and not agrees(expected, output, varying or SANITIZED):
            yield f"{page}:{number}: {command}\n    the page shows:\n" + "\n".join(expected) + f"\n    it says:\n{output}"


def missing_pages(root, heddle, environment):
    """A page for everything that a person can name, each with an example; and no page for what there is not."""
    say = lambda *words: subprocess.run([heddle, *words], capture_output=True, text=True, check=True, env=environment).stdout
    verbs = re.search(r"^(?:Subcommands|Verbs|Commands):\n((?:  .*\n?)+)", say("--help"), re.M | re.I)
    names = {
        "verb": set(re.findall(r"^  ([a-z]\w*)", verbs.group(1), re.M)) if verbs else set(),
        "workload": {workload["name"] for workload in json.loads(say("list", "workloads", "--json"))},
        "execution model": {model["name"] for model in json.loads(say("list", "models", "--json"))},
    }
    for kind, folder in PAGES.items():
        pages = {name[:-3] for name in os.listdir(os.path.join(root, folder)) if name.endswith(".md")} if os.path.isdir(os.path.join(root, folder)) else set()
        if not names[kind]:
            yield f"{folder}: no {kind} found to look for: has the output of heddle changed?"
        for name in sorted(names[kind] - pages):
            yield f"{folder}/{name}.md is missing: the {kind} {name} has no page"
        for name in sorted(pages - names[kind]):
            yield f"{folder}/{name}.md is about a {kind} that does not exist"
        for name in sorted(names[kind] & pages):
            if not any(command.startswith("heddle ") for _, command, *_ in examples_in(read(os.path.join(root, folder, name + ".md")))):
                yield f"{folder}/{name}.md has no example that can be run (a ```console block with `$ heddle ...`)"


def shared_files(root, pages):
    """Files under build/ that commands of several pages name."""
    users = {}
    for page in pages:
        for _, command, *_ in examples_in(read(os.path.join(root, page))):
            for name in re.findall(r"\bbuild/[\w.-]+", command):
                users.setdefault(name, set()).add(page)
    for name, of in sorted(users.items()):
        if len(of) > 1:
            yield f"{', '.join(sorted(of))}: all name {name}; give each a file of its own"


def broken_links(page, root):
    text = re.sub(r"```.*?```", lambda match: re.sub(r"[^\n]", "", match.group()), read(os.path.join(root, page)), flags=re.S)
    for number, line in enumerate(text.split("\n"), 1):
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            path = target.split("#")[0]
            if path and not re.match(r"[a-z]+:", path) and not os.path.exists(os.path.join(root, os.path.dirname(page), path)):
                yield f"{page}:{number}: the link {target} leads nowhere"


def unknown_builds(page, root):
    """Folders of build/ that no preset makes: a command that names one does not work in a fresh clone."""
    presets = {preset["name"] for preset in json.loads(read(os.path.join(root, "CMakePresets.json")))["configurePresets"]}
    for number, line in enumerate(read(os.path.join(root, page)).split("\n"), 1):
        for name in re.findall(r"\bbuild/([\w-]+)/", line):
            if name not in presets:
                yield f"{page}:{number}: no preset of CMakePresets.json makes build/{name}"


def prove_that_it_can_fail():
    text = "```console\n$ heddle a \\\n  b\none\n...\ntwo ... four\n\n$ heddle c\n# exit 2\n```\n"
    assert examples_in(text) == [[2, "heddle a   b", ["one", "...", "two ... four", ""], 0, False], [8, "heddle c", [], 2, False]], examples_in(text)
    assert examples_in("```console varying\n$ heddle a\n```\n")[0][4]
    assert agrees(["one", "...", "two ... four"], "one\nx\ny\ntwo three four\n")
    assert agrees(["one", "...", "two"], "one\ntwo\n")
    assert not agrees(["one", "two"], "one\nx\ntwo\n")
    assert not agrees(["one"], "one\ntwo\n")
    assert not agrees(["one ... two"], "one\ntwo\n")
    assert agrees(["makespan  1,179.5 us (virtual)", "..."], "makespan 2 ms (virtual)\nmore\n", varying=True)
    assert agrees(["...1 a ..., b ...e-16, c 2%, d"], "x 2 a 1,000, b 2e-16, c 3%, d\n", varying=True)
    assert agrees(["......1==3==.2"], "......1==3==.2\n", varying=True)
    assert not agrees(["makespan  179 us"], "makespan 2 ms\n")
    assert not agrees(["makespan  179 us (virtual)"], "makespan 179 us\n", varying=True)
    assert not agrees(["right 5"], "wrong 5\n", varying=True) and not agrees(["node3"], "node4\n", varying=True)
    with tempfile.TemporaryDirectory() as root:
        with open(os.path.join(root, "page.md"), "w", encoding="utf-8") as file:
            file.write("[a](page.md) [b](gone.md)\n```console\n$ heddle x\nyes\n```\n")
        with open(os.path.join(root, "builds.md"), "w", encoding="utf-8") as file:
            file.write("build/release/heddle, build/a.csv, build/mine\nbuild/dev/heddle\n")
        with open(os.path.join(root, "CMakePresets.json"), "w", encoding="utf-8") as file:
            file.write('{"configurePresets": [{"name": "release"}]}')
        assert [failure.split(":")[1] for failure in unknown_builds("builds.md", root)] == ["2"]
        with open(os.path.join(root, "heddle"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho no\n")
        os.chmod(os.path.join(root, "heddle"), 0o755)
        assert len(list(broken_links("page.md", root))) == 1
        assert len(list(run_examples("page.md", root, {"PATH": root + ":" + os.environ["PATH"]}))) == 1


def main():
    arguments = script_arguments("heddle", "simulator")
    prove_that_it_can_fail()
    root = arguments.source
    environment = {**os.environ, "PATH": os.path.dirname(arguments.heddle) + ":" + os.environ["PATH"]}
    pages = ["README.md", "ARCHITECTURE.md", "bench/README.md"] + sorted(
        os.path.relpath(os.path.join(folder, name), root)
        for folder, _, names in os.walk(os.path.join(root, "docs")) for name in names if name.endswith(".md"))
    part, parts = int(os.environ.get("TEST_PART", 0)), int(os.environ.get("TEST_PARTS", 1))
    failures, examples = list(missing_pages(root, arguments.heddle, environment)) if part == 0 else [], 0
    if part == 0:
        failures += shared_files(root, pages)
    for page in pages[part::parts]:
        failures += broken_links(page, root)
        failures += unknown_builds(page, root)
        failures += run_examples(page, root, environment)
        examples += len(examples_in(read(os.path.join(root, page))))
    print("\n".join(failures))
    print(f"{len(pages[part::parts])} pages, {examples} examples, {len(failures)} failures")
    return 1 if failures or not examples else 0


if __name__ == "__main__":
    sys.exit(main())
