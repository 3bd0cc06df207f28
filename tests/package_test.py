"""Tests that projects of their own can use an installed Heddle: the examples and the README's program build against it
with find_package. Each binary has every verb, and its workload gives the right answer natively and in simulation. The
same holds for a stealing policy and an execution model, each in one file.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from script_arguments import SKIPPED, script_arguments


def run(*command, **options):
    """Runs a command and returns what it says; shows it and stops the test where it fails."""
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if result.returncode != 0:
        print("$", *command)
        print(result.stdout + result.stderr)
        sys.exit(f"exit code {result.returncode}")
    return result.stdout


# Each project: its folder in examples/, its workload, and a value of its answer. The README's program is the third.
PROJECTS = [("own_workload", "quadrature", "area"), ("own_earth", "primes", "primes"), (None, "my_fib", "value")]

README_PROJECT = """cmake_minimum_required(VERSION 3.22)
project(my_fib LANGUAGES CXX)
find_package(heddle REQUIRED)
add_executable(my_fib my_fib.cpp)
target_link_libraries(my_fib PRIVATE heddle::main)
"""
README_RUN = """workload: {name: my_fib}
platform: {nodes: 4, cores: 2}
backend: sim
"""


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def project_of_readme(source, folder):
    """The first block of C++ in the README as a project."""
    with open(os.path.join(source, "README.md"), encoding="utf-8") as file:
        program = re.search(r"^```cpp\n(.*?)^```", file.read(), re.S | re.M).group(1)
    write(os.path.join(folder, "my_fib.cpp"), program)
    write(os.path.join(folder, "my_fib.yaml"), README_RUN)
    write(os.path.join(folder, "CMakeLists.txt"), README_PROJECT)
    return folder


def check_installed_flags(prefix):
    """A user's own code is compiled as the user says: an installed target adds the language, no optimization or warning."""
    targets, = glob.glob(os.path.join(prefix, "**", "heddle-targets.cmake"), recursive=True)
    with open(targets, encoding="utf-8") as file:
        options = re.findall(r"INTERFACE_(?:COMPILE|LINK)_OPTIONS .*", file.read())
    assert not options, f"find_package(heddle) changes its users' flags: {options}"


def build_example(cache, prefix, scratch, example, build_type="Debug"):
    """Builds a project against the installed Heddle, with the sanitizers of that. Returns the build's folder.
    Debug takes half as long to compile as Release, whose -O3 the README's users have."""
    build = os.path.join(scratch, "build", os.path.basename(example))
    sanitize = f"-fsanitize={cache['HEDDLE_SANITIZE']}" if cache.get("HEDDLE_SANITIZE") else ""
    run("cmake", "-G", "Ninja", "-S", example, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_BUILD_TYPE={build_type}",
        f"-DCMAKE_CXX_FLAGS={sanitize}")
    run("cmake", "--build", build)
    return build


def check_project(arguments, cache, prefix, scratch, project):
    folder, name, value = project
    if folder:
        example = shutil.copytree(os.path.join(arguments.source, "examples", folder), os.path.join(scratch, folder))
    else:
        example = project_of_readme(arguments.source, os.path.join(scratch, "readme"))
    build = build_example(cache, prefix, scratch, example, "Debug" if folder == "own_earth" else "Release")
    # Nothing of the source tree is used: the headers come from where it was installed.
    with open(os.path.join(build, "build.ninja"), encoding="utf-8") as file:
        assert f"-I{arguments.source} " not in file.read(), f"{name} is compiled against the source tree"

    binary = os.path.join(build, name)
    workloads = {workload["name"] for workload in json.loads(run(binary, "list", "workloads", "--json"))}
    assert workloads == {name}, f"its workloads are {workloads}"
    sim = cache.get("HEDDLE_SIM", "ON") in ("ON", "1", "TRUE")
    worlds = [("native", ["--set", "platform.nodes=1", "--set", "platform.cores=2"])] + ([("sim", [])] if sim else [])
    answers = set()
    for backend, settings in worlds:
        text = run(binary, "run", os.path.join(example, name + ".yaml"), "--json", "--backend", backend, *settings, cwd=scratch)
        result = json.loads(text)
        assert result["ok"] and result["backend"] == backend and result["tasks"] > 60, result
        assert backend != "sim" or result["steals"]["between_nodes"] > 0, result
        answers.add(result["answer"][value])
        print(f"{name}, {backend}: {result['answer']}, {result['tasks']} tasks")
    assert len(answers) == 1, f"the worlds disagree: {answers}"


def check_filaments(arguments, cache, prefix, scratch):
    """Figures 1 and 2 of the HyFi paper outside the tree: as many sweeps on every machine."""
    example = shutil.copytree(os.path.join(arguments.source, "examples", "own_filaments"), os.path.join(scratch, "own_filaments"))
    build = build_example(cache, prefix, scratch, example)
    binary, file = os.path.join(build, "figures"), os.path.join(example, "figures.yaml")
    sim = cache.get("HEDDLE_SIM", "ON") in ("ON", "1", "TRUE")
    sweeps = set()
    for backend, nodes, cores in [("native", 1, 2)] + ([("sim", 4, 2), ("sim", 1, 4), ("sim", 2, 2)] if sim else []):
        result = json.loads(run(binary, "run", file, "--json", "--backend", backend, "--set", f"platform.nodes={nodes}",
                                "--set", f"platform.cores={cores}", cwd=scratch))
        assert result["ok"], result
        sweeps.add(result["answer"]["sweeps"])
    assert len(sweeps) == 1, f"machines disagree: {sweeps}"


def check_dataflow(arguments, cache, prefix, scratch):
    """Figures 1 and 3 of the KAAPI paper outside the tree, in both worlds."""
    example = shutil.copytree(os.path.join(arguments.source, "examples", "own_dataflow"), os.path.join(scratch, "own_dataflow"))
    build = build_example(cache, prefix, scratch, example)
    binary, file = os.path.join(build, "figures"), os.path.join(example, "figures.yaml")
    sim = cache.get("HEDDLE_SIM", "ON") in ("ON", "1", "TRUE")
    for backend, nodes, cores in [("native", 1, 2), ("inprocess", 3, 2)] + ([("sim", 4, 2), ("sim", 64, 1)] if sim else []):
        result = json.loads(run(binary, "run", file, "--json", "--backend", backend, "--set", f"platform.nodes={nodes}",
                                "--set", f"platform.cores={cores}", cwd=scratch))
        assert result["check"]["verdict"] == "right" and result["answer"]["value"] == 144, result
    print("the figures of the KAAPI paper ran")


def check_policy(arguments, cache, prefix, scratch):
    """A policy in one file outside the tree: its settings are listed and read, and its runs are right in both worlds."""
    example = shutil.copytree(os.path.join(arguments.source, "examples", "own_policy"), os.path.join(scratch, "own_policy"))
    build = build_example(cache, prefix, scratch, example)
    binary, file = os.path.join(build, "nearest"), os.path.join(example, "nearest.yaml")
    listed = {policy["name"]: policy.get("settings", []) for policy in json.loads(run(binary, "list", "stealing", "--json"))}
    assert [setting["name"] for setting in listed["nearest"]] == ["draws"] and "satin" in listed, listed
    sim = cache.get("HEDDLE_SIM", "ON") in ("ON", "1", "TRUE")
    for backend in ["inprocess"] + (["sim"] if sim else []):
        result = json.loads(run(binary, "run", file, "--json", "--backend", backend))
        assert result["check"]["verdict"] == "right" and result["steals"]["between_nodes"] > 0, result
        assert result["configuration"]["schedule"]["stealing"]["draws"] == 3, result["configuration"]
    refused = subprocess.run([binary, "run", file, "--set", "schedule.stealing.draws=0"], capture_output=True, text=True)
    assert refused.returncode == 2 and "1 to 1000" in refused.stderr, refused
    print("a policy outside the tree ran")


def check_model(arguments, cache, prefix, scratch):
    """An execution model in one file outside the tree, with something of its own to wait for: right in all worlds."""
    example = shutil.copytree(os.path.join(arguments.source, "examples", "own_model"), os.path.join(scratch, "own_model"))
    build = build_example(cache, prefix, scratch, example)
    binary, file = os.path.join(build, "futures"), os.path.join(example, "futures.yaml")
    sim = cache.get("HEDDLE_SIM", "ON") in ("ON", "1", "TRUE")
    worlds = [["--backend", "native", "--set", "platform.nodes=1"], ["--backend", "inprocess"]] + ([["--backend", "sim"]] if sim else [])
    for world in worlds:
        result = json.loads(run(binary, "run", file, "--json", *world))
        assert result["check"]["verdict"] == "right" and result["answer"]["sum"] == 184756, result
    launched = run(binary, "launch", "-n", "3", "--", binary, "run", file, "--json", "--backend", "native", "--set", "platform.nodes=3")
    assert json.loads(launched)["check"]["verdict"] == "right", launched
    print("a model outside the tree ran in all worlds")


def rebuilt(build, source, scratch):
    """A comparison of its cells: an identical rebuild reuses them, one that changes what a task costs runs them again."""
    binary, file, out = os.path.join(build, "quadrature"), os.path.join(scratch, "own.yaml"), os.path.join(scratch, "own")
    with open(file, "w", encoding="utf-8") as text:
        text.write("workload: {name: quadrature}\nbackend: sim\ncompare: {platform.nodes: [1, 2]}\n")

    def compare():
        done = subprocess.run([binary, "compare", file, "--out", out, "--json"], capture_output=True, text=True)
        assert done.returncode == 0, done
        lines = [line for group in json.loads(done.stdout)["groups"] for line in group["lines"]]
        return done.stderr, [line["makespan_seconds"]["median"] for line in lines]

    said, first = compare()
    assert "2 cells; results in" in said, said
    with open(source, encoding="utf-8") as file_before:
        code = file_before.read()
    for text, reused in ((code + "// The end.\n", True), (code.replace("work_units = 1;", "work_units = 10;"), False)):
        with open(source, "w", encoding="utf-8") as changed:
            changed.write(text)
        run("cmake", "--build", build)
        said, now = compare()
        if reused:
            assert "2 of them there already (same configuration, files and program)" in said and now == first, (said, now, first)
        else:
            assert "2 of the others are run again: the program changed" in said, said
            assert now[0] > 5 * first[0], (now, first)
    with open(os.path.join(out, "runs.csv"), encoding="utf-8") as table:
        assert len(table.readlines()) == 1 + 2, "the table still has rows of the earlier program"
    print("a rebuild that changed a task's cost made its cells run again")


def main():
    arguments = script_arguments("build")
    with open(os.path.join(arguments.build, "CMakeCache.txt"), encoding="utf-8") as file:
        cache = dict(re.findall(r"^(\w+):\w+=(.*)$", file.read(), re.M))
    if cache["HEDDLE_SHARED"] == "ON":
        print("skipped: a build of shared libraries is not installed")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as scratch:
        prefix = os.path.join(scratch, "prefix")
        run("cmake", "--install", arguments.build, "--prefix", prefix)
        check_installed_flags(prefix)
        for project in PROJECTS:
            check_project(arguments, cache, prefix, scratch, project)
        check_filaments(arguments, cache, prefix, scratch)
        check_dataflow(arguments, cache, prefix, scratch)
        check_policy(arguments, cache, prefix, scratch)
        check_model(arguments, cache, prefix, scratch)
        if cache.get("HEDDLE_SIM", "ON") in ("ON", "1", "TRUE"):
            rebuilt(os.path.join(scratch, "build", "own_workload"), os.path.join(scratch, "own_workload", "quadrature.cpp"), scratch)
        installed = os.path.join(prefix, "bin", "heddle")
        assert {"fib", "nqueens", "uts"} <= {workload["name"] for workload in json.loads(run(installed, "list", "workloads", "--json"))}
    return 0


if __name__ == "__main__":
    sys.exit(main())
