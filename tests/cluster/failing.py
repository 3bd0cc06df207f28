"""For tests: runs a launch that must fail soon, with a message that says what to do, and without leaving a process
behind.
"""

import time

from namespaces import check

SECONDS_TO_END = 15


def fails(cluster, what, hosts, *parts, options=(), command=None):
    fib = cluster.experiment("fib", workload={"name": "fib", "n": 18}, platform={"cores": 1})
    start = time.monotonic()
    result = cluster.launch(hosts, *(command or ("heddle", "run", fib)), options=options)
    seconds = time.monotonic() - start
    print(f"{what}: exit code {result.returncode} after {seconds:.1f} s\n{result.stderr}")
    check(result.returncode != 0, f"{what}: exit code 0")
    check(seconds < SECONDS_TO_END, f"{what}: ended after {seconds:.1f} s")
    for part in parts:
        check(part in result.stderr, f'{what}: "{part}" is not in\n{result.stderr}')
    cluster.check_nothing_runs(what)
