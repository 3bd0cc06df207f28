"""Tests the rules of Athapascan for passing shared objects on. Each forbidden pair of access modes fails to compile,
with its rule named, and all allowed pairs compile. Two files are compiled, without code: one has every forbidden
pair, one every allowed pair.
"""

import collections
import os
import re
import subprocess
import sys
import tempfile

from script_arguments import script_arguments

MODES = ["r", "w", "rw", "cw", "rp", "wp", "rpwp", "cwp"]
# From the mode in which a body has an object to the modes in which it may pass it on.
ALLOWED = {
    "r": ["r"],
    "w": ["w"],
    "rw": [],
    "cw": ["cw"],
    "rp": ["r", "rp"],
    "wp": ["w", "wp"],
    "rpwp": MODES,
    "cwp": ["cw", "cwp"],
}

HEAD = """#include "model/dataflow.hpp"
using namespace heddle::dataflow;
struct Add { void operator()(int& into, int from) const { into += from; } };
struct Max { void operator()(int& into, int from) const { if (from > into) into = from; } };
"""
# A body may pass on what it accumulates, with its own operator only.
ACCUMULATING = [(own, mode) for own, modes in ALLOWED.items() for mode in modes if own.startswith("cw")]


def formal(mode, operator="Add"):
    return f"shared_{mode}<int, {operator}>" if mode.startswith("cw") else f"shared_{mode}<int>"


def program(pairs, operator="Add"):
    """`operator`: of the tasks that the objects are passed on to."""
    tasks = "".join(f"void to_{mode}(Thread&, {formal(mode, operator)}) {{}}\n" for mode in MODES)
    bodies = "".join(f"void {own}_to_{mode}(Thread& self, {formal(own)} object) {{ self.fork<to_{mode}>(object); }}\n"
                     for own, mode in pairs)
    return HEAD + tasks + bodies


def compile_errors(compiler, source, text):
    """The errors of a compilation; none: it compiles."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "passing.cpp")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        limit = ["-ferror-limit=0"] if "clang" in os.path.basename(compiler) else []
        result = subprocess.run([compiler, "-std=gnu++20", "-fsyntax-only", "-DBOOST_DISABLE_ASSERTS", *limit, "-I", source, path],
                                capture_output=True, text=True)
    errors = [line for line in result.stderr.split("\n") if re.search(r"\berror:", line)]
    assert (result.returncode == 0) == (not errors), result.stderr
    return errors


def main():
    arguments = script_arguments("heddle")
    with open(os.path.join(arguments.build, "CMakeCache.txt"), encoding="utf-8") as cache:
        compiler = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.+)$", cache.read(), re.M).group(1)
    pairs = [(own, mode) for own in MODES for mode in MODES]
    allowed = [(own, mode) for own, mode in pairs if mode in ALLOWED[own]]
    forbidden = [pair for pair in pairs if pair not in allowed]

    errors = compile_errors(compiler, arguments.source, program(allowed))
    assert not errors, "an allowed passing does not compile:\n" + "\n".join(errors)

    errors = compile_errors(compiler, arguments.source, program(forbidden))
    named = collections.Counter(match.group(1) for line in errors if (match := re.search(r"dataflow rule (\w+):", line)))
    expected = collections.Counter(own for own, _ in forbidden)
    assert named == expected, f"forbidden pairs of each mode: {expected}; refused by its rule: {named}\n" + "\n".join(errors)

    errors = compile_errors(compiler, arguments.source, program(ACCUMULATING, "Max"))
    refused = sum("dataflow rule operator:" in line for line in errors)
    assert refused == len(ACCUMULATING), f"{refused} of {len(ACCUMULATING)} operators are refused\n" + "\n".join(errors)
    print(f"{len(allowed)} pairs of modes compile, {len(forbidden)} are refused by their rule")


if __name__ == "__main__":
    sys.exit(main())
