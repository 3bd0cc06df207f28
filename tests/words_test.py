"""Tests the words of documents, comments and messages: they must name the actor and use no idiom (docs/contributing.md,
"Prose"). It counts the words that hide an actor, and the idioms; each folder has a ceiling, which may only fall.

Looked at are Markdown outside of code, comments and strings of C++, and the whole text of scripts, CMake and YAML files.
"""

import os
import re
import sys
from collections import Counter

import layering_test
from script_arguments import script_arguments

# The most that a folder may have; every folder that is not named has none. Lower a number as soon as the folder has less.
CEILINGS = {}

# In halves, because this file is counted, too. Each with what to write instead.
WORDS = [
    ("wh" "o|wh" "oever|wh" "om|wh" "omever|wh" "ose turn", "the actor: worker, thief, owner, receiver, caller, process"),
    ("no" "body|some" "body|any" "body|every" "body", "the actor: no worker, a thread, any process"),
    ("at" " hand|in" " vain|an" "ew|said" " plainly|dea" "r(?:er|est)?|a" " hope|stan" "ds(?! for)", "plain words"),
]
PATTERN = re.compile(r"\b(?:" + "|".join(words for words, _ in WORDS) + r")\b", re.IGNORECASE)


def prose_of(path, text):
    """A file's text with everything blanked that is not prose; lines stay where they are."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())
    if path.endswith(".md"):
        return re.sub(r"`[^`\n]*`", blank, re.sub(r"^```.*?^```", blank, text, flags=re.S | re.M))
    if path.endswith((".cpp", ".hpp")):
        kept, last = [], 0
        for match in layering_test.LEXICAL.finditer(text):
            kept += [re.sub(r"[^\n]", " ", text[last:match.start()]), match.group()]
            last = match.end()
        return "".join(kept) + re.sub(r"[^\n]", " ", text[last:])
    return text


def is_ours(path):
    if path == "LICENSE":
        return False
    if path.endswith((".md", ".cpp", ".hpp", ".py", ".sh", ".cmake", ".in", ".txt", ".yaml", ".json", ".cff")):
        return True
    return "." not in os.path.basename(path) and ("/" not in path or path.startswith(("scripts/", ".ci/")))


def found_in(files):
    """(folder, path, line number, word) of each banned word."""
    for path, text in sorted(files.items()):
        folder = path.split("/")[0] if "/" in path else "."
        for number, line in enumerate(prose_of(path, text).split("\n"), 1):
            for match in PATTERN.finditer(line):
                yield folder, path, number, match.group()


def too_many(files, ceilings):
    """A message for every folder that has more than its ceiling, with each place, so that the new ones are seen."""
    found = list(found_in(files))
    counts = Counter(folder for folder, _, _, _ in found)
    for folder, count in sorted(counts.items()):
        if count > ceilings.get(folder, 0):
            places = "\n".join(f"    {path}:{number}: {word}" for where, path, number, word in found if where == folder)
            yield f"{folder}: {count} banned words, at most {ceilings.get(folder, 0)} (a folder's number may only fall):\n{places}"


def prove_that_it_can_fail():
    actor, idiom = "wh" "o", "in" " vain"
    bad = {"docs/a.md": f"A page for {actor} reads.\n", "base/a.cpp": f"// Looks {idiom}.\n", "base/b.hpp": f'auto text = "{actor.upper()} waits";\n',
           "scripts/a.sh": f"# For {actor}ever.\n", "cli/a.cpp": f"/* one\n   {idiom} */\n", "README.md": "Time stan" "ds still.\n"}
    for path, text in bad.items():
        assert len(list(too_many({path: text}, {}))) == 1, path
        assert len(list(too_many({path: text}, {path.split("/")[0] if "/" in path else ".": 1}))) == 0, path
    good = {"docs/a.md": f"A worker waits, whose task `{actor}` is.\n```sh\n{actor}\n```\nIt stan" "ds for a task.\n", "base/a.cpp": f"int {actor} = 1;  // the owner\n"}
    assert not list(found_in(good)), list(found_in(good))


def main():
    root = os.path.realpath(script_arguments().source)
    prove_that_it_can_fail()
    files = {}
    for name in filter(is_ours, layering_test.project_files(root)):
        try:
            with open(os.path.join(root, name), encoding="utf-8") as file:
                files[name] = file.read()
        except (UnicodeDecodeError, FileNotFoundError):
            pass  # no text; or deleted, and still in git's index
    failures = list(too_many(files, CEILINGS))
    print("\n".join(failures))
    counts = Counter(folder for folder, _, _, _ in found_in(files))
    print(", ".join(f"{folder} {counts[folder]} of {CEILINGS.get(folder, 0)}" for folder in sorted(counts.keys() | CEILINGS.keys())))
    return 1 if failures or len(files) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
