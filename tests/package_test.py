"""An installed Heddle serves a project of its own: examples/own_workload builds against it with find_package, its
binary has every verb, and its workload gives the right answer on threads and in simulation.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

from script_arguments import script_arguments


def run(*command, **options):
    """Runs a command and returns what it says; shows it and stops the test where it fails."""
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if result.returncode != 0:
        print("$", *command)
        print(result.stdout + result.stderr)
        sys.exit(f"exit code {result.returncode}")
    return result.stdout


def main():
    arguments = script_arguments("build")
    example = os.path.join(arguments.source, "examples", "own_workload")
    with open(os.path.join(arguments.build, "CMakeCache.txt"), encoding="utf-8") as file:
        cache = dict(re.findall(r"^(\w+):\w+=(.*)$", file.read(), re.M))
    with tempfile.TemporaryDirectory() as scratch:
        prefix, build = os.path.join(scratch, "prefix"), os.path.join(scratch, "build")
        run("cmake", "--install", arguments.build, "--prefix", prefix)
        sanitize = f"-fsanitize={cache['HEDDLE_SANITIZE']}" if cache.get("HEDDLE_SANITIZE") else ""
        run("cmake", "-G", "Ninja", "-S", example, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release",
            f"-DCMAKE_CXX_FLAGS={sanitize}")
        run("cmake", "--build", build)
        # Nothing of the source tree is used: the headers come from where it was installed.
        with open(os.path.join(build, "build.ninja"), encoding="utf-8") as file:
            assert f"-I{arguments.source} " not in file.read(), "the example is compiled against the source tree"

        binary = os.path.join(build, "quadrature")
        workloads = {workload["name"] for workload in json.loads(run(binary, "list", "workloads", "--json"))}
        assert workloads == {"quadrature"}, f"its workloads are {workloads}"
        sim = cache.get("HEDDLE_SIM", "ON") in ("ON", "1", "TRUE")
        worlds = [("native", ["--set", "platform.nodes=1", "--set", "platform.cores=2"])] + ([("sim", [])] if sim else [])
        answers = set()
        for backend, settings in worlds:
            text = run(binary, "run", os.path.join(example, "quadrature.yaml"), "--json", "--backend", backend, *settings, cwd=scratch)
            result = json.loads(text)
            assert result["ok"] and result["backend"] == backend and result["tasks"] > 1000, result
            assert backend != "sim" or result["steals"]["between_nodes"] > 0, result
            answers.add(result["answer"]["area"])
            print(f"{backend}: {result['answer']}, {result['tasks']} tasks")
        assert len(answers) == 1, f"the worlds disagree: {answers}"
        installed = os.path.join(prefix, "bin", "heddle")
        assert {"fib", "nqueens", "uts"} <= {workload["name"] for workload in json.loads(run(installed, "list", "workloads", "--json"))}
    return 0


if __name__ == "__main__":
    sys.exit(main())
