"""Tests the shape of the code: which folder may include which, where threads, sockets and clocks live, and what the
scheduler may not ask. Also the habits that every file keeps. There is no list of exceptions.

First it proves on small bad trees that every rule can fail (tests/layering_cases.py); then it checks the project.
It reads text only: whether the code compiles is the build's business.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

import layering_cases
from script_arguments import script_arguments

# The folders and what each may include: arrows point down only. A name that ends in .hpp is that one header.
SEAM = "runtime/backend.hpp"
ALLOWED = {
    "base": [],
    "graphs": ["base"],
    "partitioners": ["base"],
    "runtime": ["base"],
    "host": ["base"],
    "memory": ["base", SEAM, "runtime/memory_view.hpp"],
    "runtime/native": ["base", SEAM, "runtime/body_pool.hpp", "host", "memory"],
    "runtime/inprocess": ["base", SEAM, "memory"],
    "sim": ["base", SEAM, "memory"],
    "model": ["base", "partitioners", "runtime"],
    "calibration": ["base", "runtime", "model"],
    "workloads": ["base", "graphs", "partitioners", "runtime", "model"],
    "configs": ["base", "graphs", "partitioners", "runtime", "workloads"],
    "results": ["base", "graphs", "partitioners", "runtime", "workloads", "configs"],
    "report": ["base", "workloads", "configs", "results"],
    "cli": ["base", "host", "graphs", "partitioners", "runtime", "runtime/native", "runtime/inprocess", "sim", "model", "calibration",
            "workloads", "configs", "results", "report"],
}
# These may include everything, and nothing includes them.
OUTSIDE = ["tests", "bench", "examples"]
ABOVE_THE_SEAM = ["runtime", "model", "calibration", "workloads", "partitioners"]

LINES_MAX = 500

# Code outside host/ and runtime/native/ (tests and benchmarks excepted) that starts a thread, blocks, or reads a clock.
THREADS = re.compile(
    r"std::(jthread|thread|mutex|timed_mutex|recursive_mutex|shared_mutex|lock_guard|unique_lock|scoped_lock|shared_lock"
    r"|condition_variable\w*|this_thread|future|promise|async|packaged_task|call_once|once_flag|counting_semaphore"
    r"|binary_semaphore|latch|barrier|stop_token|notify_\w+)\b"
    r"|\.notify_(one|all)\s*\(|\b(pthread_|sem_(init|wait|post)|usleep|nanosleep|sched_yield|futex)\w*|boost::(thread|asio)"
    r"|#\s*include\s*<(thread|mutex|shared_mutex|condition_variable|future|semaphore|latch|barrier|stop_token|pthread\.h"
    r"|semaphore\.h|boost/(thread|asio).*)>")
SOCKETS = re.compile(r"#\s*include\s*<(sys/socket|netinet/\w+|arpa/inet|netdb|sys/epoll|poll|sys/un)(\.h)?>|::(socket|accept|connect)\s*\(")
CLOCKS = re.compile(
    r"\b(steady_clock|system_clock|high_resolution_clock|utc_clock|gettimeofday|clock_gettime|timespec_get|__rdtsc|_rdtsc)\b"
    r"|\bstd::(time|clock)\s*\(|(?<![\w.:>])time\s*\(\s*(nullptr|NULL|0|&)|#\s*include\s*<(sys/time\.h|ctime|time\.h)>")

# What no code above the seam names, as a word or as a part of an identifier, and what to use instead. Comments and
# strings may: a comment explains best by saying "in simulation" or "natively".
SEAM_WORDS = [
    (r"(?<![a-z])[Nn]ative(ly)?(?![a-z])", "a property of the seam that the scheduler relies on (gate_open, charge, park)"),
    (r"(?i)simulat|simgrid|(?<![a-z])sim(?![a-z])", "operations are charged (Context::charge), in every world"),
    (r"(?i)(?<![a-z])in_?process", "no backend is named above the seam"),
    (r"(?<![a-z])[Ww]all(?![a-z])|(?i:virtual_(time|clock)|real_time)", "Backend::now is the only time there is"),
    (r"(?<![a-z])[Cc]locks?(?![a-z])", "Context::charge adds to it and Backend::now reads it; the scheduler does neither by hand"),
    (r"(?<![a-z])(pthreads?|tcp|TCP|sockets?)(?![a-z])", "the seam sends, parks and runs"),
]

# What no file of ours says, and what to use instead. The folders are those where it may be said.
BANNED = [
    (r"\busing namespace std\s*;", [], "name what you use"),
    (r"\bstd::endl\b", [], "'\\n'; flush by hand where it matters"),
    (r"(?<!\w)assert\s*\(|#\s*include\s*<(cassert|assert\.h)>", [], "HEDDLE_ASSERT (base/assert.hpp)"),
    (r"\bstd::(rand|srand|mt19937(_64)?|random_device|minstd_rand)\b", ["runtime/native", "tests", "bench"], "heddle::Random, handed down"),
    (r"\bstd::(cout|cerr|clog)\b", ["cli", "tests", "bench", "examples"], "return it; only the command line speaks"),
    (r"\batomic_thread_fence\b", [], "an ordering on an atomic operation: ThreadSanitizer does not see fences"),
    (r"\bHEDDLE_SIM\b", ["cli", "tests", "bench"], "worlds part in the composition root (cli/) only"),
]
BANNED_COMMENTS = [(r"\b(TODO|FIXME|XXX|HACK)\b", "do it, or open an issue")]

# The project speaks of itself alone, in every text file.
PLACES = re.compile(r"(?<![\w.~-])/(work|home|root|Users)/\w")

LEXICAL = re.compile(
    r'R"(?P<tag>\w*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/', re.S)


class Tree:
    """The files of a project: every text file by its path from the root, the .cpp files that some target compiles, and
    those that CMake leaves out by name: {path: reason}."""

    def __init__(self, files, compiled, left_out):
        self.files = files
        self.compiled = compiled
        self.left_out = left_out
        self.cpp = {path: text for path, text in files.items() if path.endswith((".hpp", ".cpp"))}

        # Comments and strings blanked, but not the paths of includes.
        self.code = {}
        for path, text in self.cpp.items():
            lines = [line if re.match(r"\s*#\s*include", line) else None for line in text.split("\n")]
            blank = LEXICAL.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text).split("\n")
            self.code[path] = "\n".join(kept or other for kept, other in zip(lines, blank))

        # (file, line number, included file), for includes of our own.
        self.includes = [(path, number, match.group(1))
                         for path, text in self.code.items()
                         for number, line in enumerate(text.split("\n"), 1)
                         if (match := re.match(r'\s*#\s*include\s*"([^"]+)"', line))]


def folder_of(path):
    """The folder whose library a file belongs to; None where the table has none."""
    parts = path.split("/")
    for length in (2, 1):
        name = "/".join(parts[:length])
        if len(parts) > length and (name in ALLOWED or name in OUTSIDE):
            return name
    return None


def find(texts, pattern):
    """(file, line number, what was found) for every line that matches."""
    pattern = re.compile(pattern)
    for path, text in sorted(texts.items()):
        for number, line in enumerate(text.split("\n"), 1):
            match = pattern.search(line)
            if match:
                yield path, number, match.group().strip()


def cycle_in(edges):
    """A cycle of a graph {from: [to]} as a list of names, or None."""
    state, trail = {}, []

    def visit(name):
        state[name] = "open"
        trail.append(name)
        for other in sorted(edges.get(name, ())):
            if state.get(other) == "open":
                return trail[trail.index(other):] + [other]
            if other not in state and (found := visit(other)):
                return found
        trail.pop()
        state[name] = "done"
        return None

    for name in sorted(edges):
        if name not in state and (found := visit(name)):
            return found
    return None


def check_folders(tree):
    for path in tree.cpp:
        if folder_of(path) is None:
            yield "folder", path, 1, "a folder without a line in the table of layers (tests/layering_test.py)"
    files, folders = {}, {}
    for path, number, target in tree.includes:
        # Each example is a project of its own.
        if folder_of(path) == "examples" and os.path.join(os.path.dirname(path), target) in tree.cpp:
            continue
        if target not in tree.cpp:
            yield "include", path, number, f'"{target}" is not a file of ours; paths are from the root'
            continue
        files.setdefault(path, set()).add(target)
        source_folder, target_folder = folder_of(path), folder_of(target)
        if source_folder == target_folder or source_folder is None or target_folder is None:
            continue
        folders.setdefault(source_folder, set()).add(target_folder)
        if source_folder in OUTSIDE:
            continue
        allowed = ALLOWED[source_folder]
        if target_folder not in allowed and target not in allowed:
            yield "arrow", path, number, f"{source_folder}/ may not include {target}; it may include {', '.join(allowed) or 'nothing of ours'}"
    for name, edges in (("include cycle", files), ("folder cycle", folders)):
        if found := cycle_in(edges):
            yield name, found[0], 1, " -> ".join(found)


def check_libraries(tree):
    """CMake's links and the includes say the same."""
    text = tree.files.get("CMakeLists.txt", "")
    links, folder_by_target = {}, {}
    for name, rest in re.findall(r"heddle_library\((\w+)([^)]*)\)", text):
        folder = re.search(r"FOLDER (\S+)", rest)
        folder_by_target[name] = folder.group(1) if folder else name
        links[name] = re.findall(r"heddle::(\w+)", rest)
    for name, targets in links.items():
        folder = folder_by_target[name]
        included = {folder_of(target) for path, _, target in tree.includes if folder_of(path) == folder} - {folder, None}
        reached, todo = set(), list(targets)
        while todo:
            step = todo.pop()
            reached.add(folder_by_target.get(step))
            todo += links.get(step, [])
        for target in targets:
            if included and folder_by_target.get(target) not in included:
                yield "unused link", "CMakeLists.txt", 1, f"heddle::{name} links heddle::{target}, but includes nothing of it"
        for missing in sorted(included - reached):
            yield "missing link", "CMakeLists.txt", 1, f"heddle::{name} includes {missing}/, but links nothing that has it"


def check_targets(tree):
    used = {target for _, _, target in tree.includes}
    for path in tree.cpp:
        if path.endswith(".hpp") and path not in used and folder_of(path) != "examples":
            yield "unused header", path, 1, "no file includes it"
        if path.endswith(".cpp") and path.startswith("examples/"):
            project = "/".join(path.split("/")[:2]) + "/CMakeLists.txt"
            if os.path.basename(path) not in tree.files.get(project, ""):
                yield "no target", path, 1, f"{project} does not build it"
        elif path.endswith(".cpp") and path not in tree.compiled and path not in tree.left_out:
            yield "no target", path, 1, "no target compiles it (if it is new: run cmake again), and heddle_leave_out does not name it"
    for path in sorted(tree.left_out):
        if path not in tree.cpp or path in tree.compiled:
            yield "left out", path, 1, "heddle_leave_out names it, but " + ("a target compiles it" if path in tree.compiled else "there is no such file")


def check_worlds(tree):
    inside = lambda *names: {p: t for p, t in tree.code.items() if folder_of(p) not in names}
    callers = ("sim/simgrid/", "bench/")
    others = {path: text for path, text in tree.code.items() if not path.startswith(callers)}
    for path, number, what in find(others, r"#\s*include\s*<(simgrid|xbt)/.*>"):
        yield "simgrid", path, number, f"{what}: only sim/simgrid/ includes SimGrid (and bench/, to compare with it)"
    for rule, pattern, advice in (("threads", THREADS, "threads and locks"), ("sockets", SOCKETS, "sockets"),
                                  ("clocks", CLOCKS, "reading clocks")):
        for path, number, what in find(inside("host", "runtime/native", "tests", "bench"), pattern):
            yield rule, path, number, f"{what}: {advice} belong into host/ or runtime/native/, behind the seam"
    for path, number, what in find(inside("runtime/native"), r"\bthread_local\b|\b__thread\b"):
        yield "thread_local", path, number, "a thousand nodes share one thread: keep it in a per-node object"
    for library, folder in (("metis", "partitioners"), ("scotch", "partitioners"), ("cblas", "workloads"), ("lapacke?", "workloads"), ("fftw3", "workloads"), ("mpi", "runtime/native")):
        users = list(find(inside("tests", "bench"), rf"#\s*include\s*<(par|pt)?{library}[\w/]*\.h>"))
        for path, number, what in users:
            if folder_of(path) != folder or path != users[0][0]:
                yield "one file", path, number, f"{what}: one file of {folder}/ includes it, and no other"


def is_guarded(tree, path, number):
    """Whether that line is between #ifdef HEDDLE_SIM and #endif."""
    guards = []
    for word, condition in re.findall(r"^#\s*(if\w*|endif)\b(.*)$", "\n".join(tree.code[path].split("\n")[:number]), re.MULTILINE):
        if word == "endif":
            guards.pop()
        else:
            guards.append(condition)
    return any("HEDDLE_SIM" in condition for condition in guards)


def check_without_simulator(tree):
    """The build without the simulator leaves tests/sim_*_test.cpp out, and other tests do without."""
    unguarded = [(path, number, target) for path, number, target in tree.includes if path.startswith("tests/") and not is_guarded(tree, path, number)]
    needing = {target for _, _, target in unguarded if target.startswith("sim/")}
    while more := {path for path, _, target in unguarded if target in needing and path.endswith(".hpp")} - needing:
        needing |= more
    for path, number, target in unguarded:
        if target in needing and re.fullmatch(r"tests/(?!sim_)\w+_test\.cpp", path):
            yield "simulator", path, number, f"{target}: the build without the simulator has it not; name the test sim_*, or put this into #ifdef HEDDLE_SIM"


def check_words(tree):
    above = {p: t for p, t in tree.code.items() if folder_of(p) in ABOVE_THE_SEAM and p != SEAM}
    for pattern, advice in SEAM_WORDS:
        for path, number, what in find(above, pattern):
            yield "seam words", path, number, f'"{what}" above the seam; {advice}'
    for pattern, folders, advice in BANNED:
        for path, number, what in find(tree.code, pattern):
            if folder_of(path) not in folders:
                yield "banned", path, number, f"{what}; use instead: {advice}"
    for pattern, advice in BANNED_COMMENTS:
        for path, number, what in find(tree.cpp, pattern):
            yield "banned", path, number, f"{what}; {advice}"
    for path, number, what in find(tree.files, PLACES):
        yield "places", path, number, f"{what}...: a path of one machine; the project speaks of itself alone"


# What the scheduler's code does not say: it knows no model, and its states have types.
CORE = [
    (r"(?i)(?<![a-z])(earth|kaapi|dataflow|filament|pcor|fork_?join|placed_?graph)[a-z]*", "no model is named in runtime/: what it needs is a source, a waitable or a state"),
    (r"\bdynamic_cast\b", "a virtual function, or a type of its own"),
    (r"\bshared_ptr<\s*void\s*>|(?<!const )\bvoid\s*\*\s*\w+_?\s*=\s*nullptr\s*;", "State<Node>, State<Worker>, or a base class"),
]


def check_core(tree):
    core = {p: t for p, t in tree.code.items() if folder_of(p) == "runtime"}
    for pattern, advice in CORE:
        for path, number, what in find(core, pattern):
            yield "core", path, number, f"{what}: {advice}"


def check_files(tree):
    for path, text in tree.files.items():
        lines = text.count("\n")
        if lines > LINES_MAX and path.endswith((".hpp", ".cpp", ".py", ".cmake", ".txt", ".sh")):
            yield "length", path, lines, f"{lines} lines; at most {LINES_MAX}: split it"
    for path, text in tree.cpp.items():
        own_header = path[:-4] + ".hpp"  # a .cpp file may leave the introduction to it
        if not text.startswith("// ") and not (own_header in tree.cpp and text.startswith(f'#include "{own_header}"\n')):
            yield "opening", path, 1, "a file opens with a comment: what it is for, and what it does not do"
        if path.endswith(".hpp") and not re.search(r"^#pragma once$", text, re.M):
            yield "pragma once", path, 1, "#pragma once is missing"


CHECKS = [check_folders, check_libraries, check_targets, check_worlds, check_without_simulator, check_words, check_core, check_files]


def violations(tree):
    return [violation for check in CHECKS for violation in check(tree)]


def read_tree(root, names, compiled, left_out):
    files = {}
    for name in names:
        try:
            with open(os.path.join(root, name), encoding="utf-8") as file:
                files[name] = file.read()
        except (UnicodeDecodeError, FileNotFoundError):
            pass  # an image or other data; a file that was deleted and is still in git's index
    return Tree(files, compiled, left_out)


def project_files(root):
    git = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True)
    if git.returncode == 0:
        return sorted(set(git.stdout.splitlines()))
    return sorted(os.path.relpath(os.path.join(folder, name), root)
                  for folder, _, names in os.walk(root) if "/build" not in folder and "/.git" not in folder
                  for name in names)


def compiled_files(root, build):
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        compiled = {entry["file"] for entry in json.load(file)}
    for united in [name for name in compiled if "/Unity/unity_" in name]:  # a file that includes those of a library
        with open(united, encoding="utf-8") as file:
            compiled.update(re.findall(r'^#include "(.*\.cpp)"', file.read(), re.MULTILINE))
    return {os.path.relpath(name, root) for name in compiled}


def left_out_files(build):
    """What CMake wrote with heddle_leave_out (cmake/HeddleTarget.cmake): {path: reason}."""
    with open(os.path.join(build, "left_out.txt"), encoding="utf-8") as file:
        return dict(line.split(": ", 1) for line in file.read().splitlines())


def prove_that_it_can_fail():
    """Every rule finds the bad tree that was made for it, and only that rule does; the good tree passes."""
    failures, proved = [], set()
    for rule, files in layering_cases.CASES:
        with tempfile.TemporaryDirectory() as root:
            for name, text in files.items():
                os.makedirs(os.path.dirname(os.path.join(root, name)) or root, exist_ok=True)
                with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                    file.write(text)
            compiled = {name for name in files if name.endswith(".cpp") and name not in layering_cases.NOT_COMPILED}
            left_out = layering_cases.LEFT_OUT if rule == "left out" or layering_cases.LEFT_OUT.keys() <= files.keys() else {}
            found = {violation[0] for violation in violations(read_tree(root, sorted(files), compiled, left_out))}
        expected = rule if isinstance(rule, set) else {rule} if rule else set()
        proved |= found
        if found != expected:
            failures.append(f"self-test: expected {expected or 'no violation'}, found {found or 'none'}, in {sorted(files)}")
    with open(__file__, encoding="utf-8") as file:
        named = set(re.findall(r'yield "([\w ]+)"', file.read())) | {"threads", "sockets", "clocks", "include cycle", "folder cycle"}
    for rule in sorted(named - proved):
        failures.append(f'self-test: no bad tree shows that the rule "{rule}" can fail')
    return failures


def main():
    arguments = script_arguments("build")
    failures = prove_that_it_can_fail()
    root = os.path.realpath(arguments.source)
    tree = read_tree(root, project_files(root), compiled_files(root, arguments.build), left_out_files(arguments.build))
    if len(tree.cpp) < 20 or not tree.includes:
        failures.append(f"only {len(tree.cpp)} source files found: is this the project's root?")
    failures += [f"{path}:{line}: {message} [{rule}]" for rule, path, line, message in violations(tree)]
    for path, reason in sorted(tree.left_out.items()):
        print(f"{path}: left out, {reason}")
    for failure in failures:
        print(failure)
    print(f"{len(tree.cpp)} files, {len(tree.includes)} includes, {len(failures)} violations")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
