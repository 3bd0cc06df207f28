"""Tests by what scripts/tidy knows a file that passed: its digest changes with the file, each header that it includes, the
compiler's options and the settings. If nothing changed no compiler runs.
"""

import importlib.machinery
import importlib.util
import os
import pathlib
import shutil
import sys
import tempfile

from script_arguments import SKIPPED, script_arguments


def load(path):
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("tidy", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("tidy", loader))
    loader.exec_module(module)
    return module


def main():
    arguments = script_arguments()
    if not shutil.which("c++"):
        print("skipped: there is no c++")
        return SKIPPED
    tidy = load(os.path.join(arguments.source, "scripts", "tidy"))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for made in ("passed", "includes"):
            (folder / made).mkdir()
        compilations = 0

        class Source(tidy.Source):
            def included(self):
                nonlocal compilations
                compilations += 1
                return super().included()

        def digest(settings=b"settings", options=""):
            """The digest, and how often a compiler ran for it."""
            nonlocal compilations
            compilations = 0
            source = Source({"file": "a.cpp", "directory": name, "command": f"c++ -I. {options} -o a.o -c a.cpp"})
            return source.digest(settings, tidy.Contents(), folder), compilations

        texts = {"a.cpp": '#include "b.hpp"\n', "b.hpp": "int b();\n", "c.hpp": "// c\n"}
        for file, text in texts.items():
            (folder / file).write_text(text)
        passed, ran = digest()
        assert ran == 1
        assert digest() == (passed, 1), "it has not passed yet"
        (folder / "passed" / passed).touch()
        assert digest() == (passed, 0)

        seen = {passed}

        def expect_another(what, **of):
            found, ran = digest(**of)
            assert found not in seen and ran == 1, (what, ran)
            seen.add(found)

        (folder / "a.cpp").write_text(texts["a.cpp"] + "// NOLINT\n")
        expect_another("a comment")
        (folder / "a.cpp").write_text(texts["a.cpp"])
        assert digest() == (passed, 0), "as it was"
        (folder / "b.hpp").write_text("int c();\n")
        expect_another("a header")
        (folder / "b.hpp").write_text('#include "c.hpp"\n')
        expect_another("another header")
        (folder / "c.hpp").write_text("// d\n")
        expect_another("the header of a header")
        (folder / "c.hpp").unlink()
        (folder / "b.hpp").write_text(texts["b.hpp"])
        assert digest()[0] == passed, "as it was"
        expect_another("options", options="-DB=1")
        expect_another("settings", settings=b"others")
    return 0


if __name__ == "__main__":
    sys.exit(main())
