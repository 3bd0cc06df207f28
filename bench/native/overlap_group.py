"""The group of compare.py that measures how much of a message a computation hides."""

import shutil

from measure import medians, table

# Through TCP, as the others, though both processes are on one machine.
MPICH = ("env", "MPIR_CVAR_NOLOCAL=1", "UCX_TLS=tcp", "mpiexec.mpich", "-np", "2")


def found_ratio(said, steps):
    """The overlapping ratio (Gautier, Besseron, Pigeon: "KAAPI", PASCO 2007, section 4.3): computation / total where the total begins to
    grow with the computation. Here that is the longest computation for which the total is at most 5% above that without
    computation. The computation is counted with the time that its steps take without messages: what a message takes from it is no part of it.
    Returns (ratio, number of steps)."""
    most = max(count for count in steps if said[f"seconds {count}"] <= 1.05 * said["seconds 0"])
    return most * said["step_ns"] * 1e-9 / said[f"seconds {most}"], most


def overlap(bench):
    """Two processes, a worker each."""
    print("\n### How much of a message a computation hides\n")
    row = table("bytes", "program", "ratio", "with the computation as long as it took", "total us", "post us", "computation us", "total with it us")
    programs = {"Heddle, active": ((), ("heddle_overlap", "active")), "Heddle, dataflow": ((), ("heddle_overlap", "dataflow")),
                "omniORB": ((), ("peer_omniorb_overlap",))}
    if bench.earlier or shutil.which("mpiexec.mpich"):
        programs["MPICH"] = (MPICH, ("peer_mpich_overlap",))
    sizes = ((2 << 10, 200), (64 << 10, 100), (1 << 20, 10))
    for bytes_, rounds in sizes[:1] if bench.quick else sizes:
        alone = bench.all_runs("overlap", {name: (before, (*command, bytes_, rounds, "0"))
                                           for name, (before, command) in programs.items()})
        steps, cases = {}, {}
        for name, runs in alone.items():
            # Up to twice the total, a twentieth of it apart. Rounded, and of medians always, because the same words find earlier runs again.
            said = medians(runs)
            step = max(1, round(said["seconds 0"] / 20 / (said["step_ns"] * 1e-9)))
            steps[name] = [count * step for count in range(0, 41, 8 if bench.quick else 1)]
            before, command = programs[name]
            cases[name] = (before, (*command, bytes_, rounds, ",".join(map(str, steps[name]))))
        for name, said in bench.alternate("overlap", cases).items():
            ratio, most = found_ratio(said, steps[name])
            us = [said[f"{what} {count}"] * 1e6 for what, count in (("seconds", 0), ("posting", 0), ("seconds", most), ("computing", most))]
            row(bytes_, name, f"{ratio:.2f}", f"{us[3] / us[2]:.2f}", f"{us[0]:.1f}", f"{us[1]:.1f}" if us[1] else "",
                f"{most * said['step_ns'] / 1000:.1f}", f"{us[2]:.1f}")
