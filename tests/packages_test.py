"""Tests that scripts/packages.sh installs exactly the missing packages, and updates the package lists only if it must.
If nothing is missing, it says and does nothing. Stand-ins replace dpkg-query, apt-get, id and sudo.
"""

import os
import re
import subprocess
import sys
import tempfile

STAND_INS = {
    "dpkg-query": """for name; do grep -qxF "$name" "$STATE/installed" && echo "installed $name"; done; exit 1\n""",
    # Knows no package before an update where STATE/old-lists exists.
    "apt-get": """echo "$@" >> "$STATE/calls"
case "$*" in
*update*) rm -f "$STATE/old-lists" ;;
*) [ ! -e "$STATE/old-lists" ] || exit 100 ;;
esac\n""",
    "id": 'echo "${USER_ID:-0}"\n',
    "sudo": 'echo sudo >> "$STATE/calls"; exec "$@"\n',
}


def main():
    source = sys.argv[sys.argv.index("--source") + 1]
    with open(os.path.join(source, "scripts", "packages.txt"), encoding="utf-8") as file:
        listed = re.findall(r"^(build|check) (\S+)$", file.read(), re.M)
    build = [name for group, name in listed if group == "build"]
    assert len(build) > 10 and ("check", "clang-tidy") in listed

    def packages(installed, user="0", old_lists=False, groups=("build",)):
        """What apt-get and sudo were called with, the output, and the exit code."""
        with tempfile.TemporaryDirectory() as state:
            for name, text in STAND_INS.items():
                with open(os.path.join(state, name), "w", encoding="utf-8") as file:
                    file.write("#!/bin/sh\n" + text)
                os.chmod(os.path.join(state, name), 0o755)
            with open(os.path.join(state, "installed"), "w", encoding="utf-8") as file:
                file.write("\n".join(installed) + "\n")
            if old_lists:
                open(os.path.join(state, "old-lists"), "w", encoding="utf-8").close()
            result = subprocess.run([os.path.join(source, "scripts", "packages.sh"), *groups], capture_output=True, text=True,
                                    env={"PATH": state + ":/usr/bin:/bin", "STATE": state, "USER_ID": user})
            calls = ""
            if os.path.exists(os.path.join(state, "calls")):
                with open(os.path.join(state, "calls"), encoding="utf-8") as file:
                    calls = file.read()
            return calls, result.stdout + result.stderr, result.returncode

    assert packages(build) == ("", "", 0), "nothing is missing: nothing may happen"

    calls, output, code = packages(build[2:])
    assert code == 0 and "update" not in calls and build[2] not in calls and "sudo" not in calls, calls
    assert calls.rstrip().split("\n")[-1].endswith(" ".join(build[:2])), calls

    calls, output, code = packages(build[1:], user="1000", old_lists=True)
    assert code == 0 and "sudo" in calls and calls.count("update") == 1, calls
    assert calls.rstrip().split("\n")[-1].endswith("install -y --no-install-recommends " + build[0]), calls

    calls, output, code = packages(build, groups=("build", "check"))
    assert "clang-tidy" in calls and "g++" not in calls, calls
    return 0


if __name__ == "__main__":
    sys.exit(main())
