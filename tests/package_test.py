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


# The examples that are built as one project, because to configure one takes as long as to compile it. No two of their programs
# have the same name. The README's program and own_filaments are projects of their own, as a user's is.
TOGETHER = ("own_workload", "own_earth", "own_dataflow", "own_policy", "own_model")

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


def check_installed_headers(prefix):
    """Each header finds those of ours that it includes."""
    root, missing, count = os.path.join(prefix, "include", "heddle"), set(), 0
    for path in glob.glob(os.path.join(root, "**", "*.hpp"), recursive=True):
        with open(path, encoding="utf-8") as file:
            included = re.findall(r'^\s*#\s*include "([^"]+)"', file.read(), re.M)
        missing |= {(os.path.relpath(path, root), name) for name in included if not os.path.exists(os.path.join(root, name))}
        count += 1
    assert count > 100 and not missing, f"of {count} installed headers these include what is not installed: {sorted(missing)}"


def copied(arguments, scratch, example):
    return shutil.copytree(os.path.join(arguments.source, "examples", example), os.path.join(scratch, example))


def pkg_config_without_build_libraries(scratch):
    """A pkg-config that knows neither SimGrid nor OpenBLAS: the build needs them, and users of an installed Heddle do not."""
    path = os.path.join(scratch, "pkg-config")
    if not os.path.exists(path):
        write(path, f"""#!/bin/sh
for word; do
    case $word in simgrid*|openblas*) exit 1;; esac
done
exec {shutil.which("pkg-config")} "$@"
""")
        os.chmod(path, 0o755)
    return path


def build_project(arguments, cache, prefix, scratch, project, build_type="Debug"):
    """Builds a project against the installed Heddle, with the sanitizers of that. Returns the build's folder.
    Debug takes half as long to compile as Release, whose -O3 the README's users have."""
    build = os.path.join(scratch, "build", os.path.basename(project))
    sanitize = f"-fsanitize={cache['HEDDLE_SANITIZE']}" if cache.get("HEDDLE_SANITIZE") else ""
    run("cmake", "-G", "Ninja", "-S", project, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_BUILD_TYPE={build_type}",
        f"-DCMAKE_CXX_FLAGS={sanitize}", f"-DPKG_CONFIG_EXECUTABLE={pkg_config_without_build_libraries(scratch)}")
    run("cmake", "--build", build)
    # Nothing of the source tree is used: the headers come from where it was installed.
    with open(os.path.join(build, "build.ninja"), encoding="utf-8") as file:
        assert f"-I{arguments.source} " not in file.read(), f"{project} is compiled against the source tree"
    return build


def build_together(arguments, cache, prefix, scratch):
    """Builds the examples of TOGETHER. Each has a folder of its name in the build's."""
    project = os.path.join(scratch, "together")
    folders = [copied(arguments, project, example) for example in TOGETHER]
    write(os.path.join(project, "CMakeLists.txt"), "cmake_minimum_required(VERSION 3.22)\nproject(together LANGUAGES CXX)\n"
          + "".join(f"add_subdirectory({os.path.basename(folder)})\n" for folder in folders))
    return build_project(arguments, cache, prefix, scratch, project)


def check_workload(cache, scratch, binary, file, value):
    """A program with one workload runs it natively and in simulation, with the same value in its answer."""
    name = os.path.basename(binary)
    workloads = {workload["name"] for workload in json.loads(run(binary, "list", "workloads", "--json"))}
    assert workloads == {name}, f"its workloads are {workloads}"
    sim = cache.get("HEDDLE_SIM", "ON") in ("ON", "1", "TRUE")
    worlds = [("native", ["--set", "platform.nodes=1", "--set", "platform.cores=2"])] + ([("sim", [])] if sim else [])
    answers = set()
    for backend, settings in worlds:
        result = json.loads(run(binary, "run", file, "--json", "--backend", backend, *settings, cwd=scratch))
        assert result["ok"] and result["backend"] == backend and result["tasks"] > 60, result
        assert backend != "sim" or result["steals"]["between_nodes"] > 0, result
        answers.add(result["answer"][value])
        print(f"{name}, {backend}: {result['answer']}, {result['tasks']} tasks")
    assert len(answers) == 1, f"the worlds disagree: {answers}"


def check_filaments(arguments, cache, prefix, scratch):
    """Figures 1 and 2 of the HyFi paper outside the tree: as many sweeps on every machine."""
    example = copied(arguments, scratch, "own_filaments")
    build = build_project(arguments, cache, prefix, scratch, example)
    binary, file = os.path.join(build, "figures"), os.path.join(example, "figures.yaml")
    sim = cache.get("HEDDLE_SIM", "ON") in ("ON", "1", "TRUE")
    sweeps = set()
    for backend, nodes, cores in [("native", 1, 2)] + ([("sim", 4, 2), ("sim", 1, 4), ("sim", 2, 2)] if sim else []):
        result = json.loads(run(binary, "run", file, "--json", "--backend", backend, "--set", f"platform.nodes={nodes}",
                                "--set", f"platform.cores={cores}", cwd=scratch))
        assert result["ok"], result
        sweeps.add(result["answer"]["sweeps"])
    assert len(sweeps) == 1, f"machines disagree: {sweeps}"
    # Rows that no processor would compute; and more processors than a node has rows.
    for setting in "workload.n=34", "platform.cores=64", "workload.n=4":
        refused = subprocess.run([binary, "run", file, "--backend", "inprocess", "--set", setting], capture_output=True, text=True)
        assert refused.returncode == 6 and "a multiple of nodes times cores" in refused.stderr, refused


def check_dataflow(cache, scratch, binary, file):
    """Figures 1 and 3 of the KAAPI paper outside the tree, in both worlds."""
    sim = cache.get("HEDDLE_SIM", "ON") in ("ON", "1", "TRUE")
    for backend, nodes, cores in [("native", 1, 2), ("inprocess", 3, 2)] + ([("sim", 4, 2), ("sim", 64, 1)] if sim else []):
        result = json.loads(run(binary, "run", file, "--json", "--backend", backend, "--set", f"platform.nodes={nodes}",
                                "--set", f"platform.cores={cores}", cwd=scratch))
        assert result["check"]["verdict"] == "right" and result["answer"]["value"] == 144, result
    print("the figures of the KAAPI paper ran")


def check_policy(cache, binary, file):
    """A policy in one file outside the tree: its settings are listed and read, and its runs are right in both worlds."""
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


def check_model(cache, binary, file):
    """An execution model in one file outside the tree, with something of its own to wait for: right in all worlds."""
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
    binary, file, out = os.path.join(build, "own_workload", "quadrature"), os.path.join(scratch, "own.yaml"), os.path.join(scratch, "own")
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
        run("cmake", "--build", build, "--target", "quadrature")
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
        check_installed_headers(prefix)
        readme = project_of_readme(arguments.source, os.path.join(scratch, "readme"))
        build = build_project(arguments, cache, prefix, scratch, readme, "Release")
        check_workload(cache, scratch, os.path.join(build, "my_fib"), os.path.join(readme, "my_fib.yaml"), "value")
        check_filaments(arguments, cache, prefix, scratch)

        build = build_together(arguments, cache, prefix, scratch)

        def program(example, name):
            return os.path.join(build, example, name), os.path.join(scratch, "together", example, name + ".yaml")

        check_workload(cache, scratch, *program("own_workload", "quadrature"), "area")
        binary, file = program("own_workload", "quadrature")
        # Where the area is no number, intervals would be divided for ever.
        refused = subprocess.run([binary, "run", file, "--set", "workload.upper=1e100"], capture_output=True, text=True)
        assert refused.returncode == 2 and "workload.upper" in refused.stderr, refused
        check_workload(cache, scratch, *program("own_earth", "primes"), "primes")
        check_dataflow(cache, scratch, *program("own_dataflow", "figures"))
        check_policy(cache, *program("own_policy", "nearest"))
        check_model(cache, *program("own_model", "futures"))
        if cache.get("HEDDLE_SIM", "ON") in ("ON", "1", "TRUE"):
            rebuilt(build, os.path.join(scratch, "together", "own_workload", "quadrature.cpp"), scratch)
        installed = os.path.join(prefix, "bin", "heddle")
        assert {"fib", "nqueens", "uts"} <= {workload["name"] for workload in json.loads(run(installed, "list", "workloads", "--json"))}
    return 0


if __name__ == "__main__":
    sys.exit(main())
