"""For tests: checks what `heddle run --json` printed for nqueens on a cluster of namespaces."""

import json

from namespaces import check


def check_solutions(cluster, what, ended, solutions, hosts):
    """`ended`: exit code, output and errors. `hosts` are the names that the result must have, in any order."""
    code, out, error = ended
    if not check(code == 0, f"{what}: exit code {code}\n{out}\n{error}"):
        return
    try:
        found = json.loads(out)
    except ValueError:
        check(False, f"{what}: not one JSON object:\n{out}\n{error}")
        return
    check(found["ok"] and found["answer"]["solutions"] == solutions, f"{what}: {found['answer']}")
    check(sorted(found["hosts"]) == sorted(hosts), f"{what}: the hosts {found['hosts']}")
    cluster.check_nothing_runs(what)
