"""For tests: no run may be shorter than its lower bound."""

import math


def check(file, compared):
    """The lines of a comparison (`heddle compare --json`): how many there are. Runs of one workload on one machine have one bound, whatever their
    schedules are."""
    bounds = {}
    for group in compared["groups"]:
        for line in group["lines"]:
            values = {**group["values"], **line["values"]}
            if values.get("backend") == "native":
                assert line["lower_bound_seconds"] is None, (file, line)
                continue
            bound, median = line["lower_bound_seconds"], line["makespan_seconds"]["median"]
            if bound is None and line["counted"]["time_seconds_working"] == 0:
                continue  # a run without work has no bound
            assert bound is not None and 0 < bound <= median, (file, values, bound, median)
            # Keys of the schedule change neither the work nor the machine; variants may. The sum of the tasks' work is rounded in
            # the order in which workers did them, which matters as much as lower_bound_seconds allows (1e-9).
            same = tuple(sorted((key, value) for key, value in values.items() if not key.startswith("schedule.")))
            assert math.isclose(bounds.setdefault(same, bound), bound, rel_tol=1e-9), (file, values, bound, bounds[same])
    return sum(len(group["lines"]) for group in compared["groups"])


def check_run(file, result):
    """One run (`heddle run --json`)."""
    bound, makespan = result["lower_bound_seconds"], result["makespan_seconds"]
    if bound is None and result["time_seconds"]["working"] == 0:
        return 1  # a run without work has no bound
    assert bound is not None and 0 < bound <= makespan, (file, bound, makespan)
    return 1
