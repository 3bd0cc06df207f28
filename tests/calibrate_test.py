"""Tests heddle calibrate natively and in simulation: the files that it writes, what is measured, and what it says of the
rest. Also --diff, and the refusal if other programs use the cores. No value of a native run is compared: no test
measures time.
"""

import csv
import os
import re
import subprocess
import sys
import tempfile

from script_arguments import script_arguments

NATIVE = ["core_speed", "kernels.fib.call@18", "kernels.uts.node", "memory_bandwidth.1", "overheads.fork", "overheads.join", "overheads.sync", "overheads.strand",
          "overheads.strand_switch", "overheads.token", "overheads.message_send", "overheads.message_receive", "overheads.poll",
          "overheads.page_fault", "overheads.page_protect", "overheads.page_fill", "shared_memory.latency"]


def run(heddle, *words, code=0):
    result = subprocess.run([heddle, *words], capture_output=True, text=True, timeout=1700, check=False)
    assert result.returncode == code, (words, result.returncode, result.stdout, result.stderr)
    return result


def entries_in(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    assert len(re.findall(r"^    - {bytes: ", text, re.M)) >= 10, text
    entries = text.split("  entries:\n")[1].split("  missing:\n")
    keys = re.findall(r"^    ([\w.@]+): \{value: ", entries[0], re.M)
    return keys, re.findall(r"^    ([\w.]+): \"(.+)\"$", entries[1], re.M)


def native(heddle, folder):
    path = os.path.join(folder, "here.yaml")
    said = run(heddle, "calibrate", "--quick", "--force", "--repetitions", "3", "--out", path)
    assert "calibrate: 1 of " in said.stderr, said.stderr
    keys, missing = entries_in(path)
    assert set(NATIVE) <= set(keys), set(NATIVE) - set(keys)
    assert "overheads.poll_peer" in dict(missing) and all(reason for _, reason in missing), missing
    assert not set(keys) & set(dict(missing))
    with open(os.path.join(folder, "here.csv"), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {"probe", "quantity", "size", "count", "seconds"} == set(rows[0])
    assert {"quantum", "fork_join", "round_trip", "fetch"} <= {row["quantity"] for row in rows}
    shown = run(heddle, "platform", "show", f"{{from: {path}, nodes: 9}}")
    assert re.search(r"^nodes +9$", shown.stdout, re.M), shown.stdout
    assert not [name for name in os.listdir(folder) if name.endswith(".tmp")], os.listdir(folder)


def refused(heddle, folder):
    """Twice as many busy processes as cores: each core works for others at least half of the time."""
    path = os.path.join(folder, "busy.yaml")
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        said = run(heddle, "calibrate", "--quick", "--out", path, code=2)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert "other programs take the cores" in said.stderr and "--force" in said.stderr, said.stderr
    assert not os.path.exists(path)


def declared(heddle, folder):
    path = os.path.join(folder, "e.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write("workload: {name: fib, n: 20}\nplatform: {nodes: 3, cores: 2}\n")
    said = run(heddle, "calibrate", "--workload", path, "--repetitions", "2")
    # 2 * fib(21) - 1 calls at 20 flops each (fib's docs).
    assert re.search(r"declared  437\.82kf and 0 B", said.stdout), said.stdout
    assert "2 runs)" in said.stdout, said.stdout
    # What is declared does not depend on what code takes in simulation, nor on noise.
    with open(path, "w", encoding="utf-8") as file:
        file.write("workload: {name: matmul, n: 128}\nplatform: {nodes: 1, cores: 1, core_speed: 10Gf}\n")
    plain, measured = (re.search(r"^  that is .* and", run(heddle, "calibrate", "--workload", path, "--repetitions", "2", *more).stdout, re.M)[0]
                       for more in ((), ("--set", "platform.compute=measured", "--set", "platform.noise={node: 0.2, task: 0.2}")))
    assert plain == measured and "at 10Gf" in plain, (plain, measured)
    with open(path, "w", encoding="utf-8") as file:
        file.write("workload: {name: fib, n: 20}\nplatform: {nodes: 3, cores: 2}\n")
    said = run(heddle, "calibrate", "--workload", path, "--set", "workload.unit_cost=0f", code=2)
    assert "declares no work" in said.stderr, said.stderr


def compared(heddle, folder):
    first, second = os.path.join(folder, "first.yaml"), os.path.join(folder, "second.yaml")
    run(heddle, "calibrate", "--quick", "--simulate", "{cores: 2, overheads: {sync: 8ns}}", "--out", first)
    run(heddle, "calibrate", "--quick", "--simulate", "{cores: 2, overheads: {sync: 9ns}}", "--out", second)
    run(heddle, "calibrate", "--diff", first, first)
    said = run(heddle, "calibrate", "--diff", first, second, code=1)
    differing = [line.split()[0] for line in said.stdout.split("\n") if line.endswith("differ")]
    assert differing == ["overheads.sync"], said.stdout
    # 5% is of the first value, as the change that is shown.
    for name, seconds in (("a", "100ns"), ("b", "105.2ns"), ("c", "104.9ns")):
        with open(os.path.join(folder, name + ".yaml"), "w", encoding="utf-8") as file:
            file.write(f"platform: {{overheads: {{sync: {seconds}}}}}\ncalibration: {{entries: {{overheads.sync: {{value: {seconds}, low: {seconds}, high: {seconds}}}}}}}\n")
    for first_name, second_name, code, words in (("a", "b", 1, "+5.2%  differ"), ("a", "c", 0, "+4.9%  within 5%"), ("b", "a", 0, "-4.9%  within 5%")):
        said = run(heddle, "calibrate", "--diff", *(os.path.join(folder, name + ".yaml") for name in (first_name, second_name)), code=code)
        assert words in said.stdout, said.stdout
    # The same description gives the same bytes.
    again = os.path.join(folder, "again.yaml")
    run(heddle, "calibrate", "--quick", "--simulate", "{cores: 2, overheads: {sync: 8ns}}", "--out", again)
    with open(first, encoding="utf-8") as a, open(again, encoding="utf-8") as b:
        assert a.read().replace("first.csv", "") == b.read().replace("again.csv", "")
    said = run(heddle, "calibrate", "--diff", first, os.path.join(folder, "gone.yaml"), code=2)
    assert "gone.yaml" in said.stderr
    said = run(heddle, "calibrate", "--simulate", "{file: x.xml}", "--out", again, code=2)
    assert "cannot be calibrated" in said.stderr, said.stderr


def woken(heddle, folder):
    """Receivers that sleep are an entry of their own: what they cost is in no other one. On more than 64 cores, of two sockets."""
    path = os.path.join(folder, "woken.yaml")
    # Of its 16 bytes the interrupting message's receiver pays 31ns, which are no part of the interrupt.
    stated = {"message_receive": 400e-9, "message_interrupt": 700e-9, "latency": 10e-6}
    run(heddle, "calibrate", "--quick", "--repetitions", "1", "--simulate",
        "{nodes: 2, cores: 96, sockets: 2, network: {latency: 10us, bandwidth: 10Gbps}, "
        "overheads: {message_receive: 400ns, message_receive_kib: 2us, message_interrupt: 700ns}}", "--out", path)
    with open(path, encoding="utf-8") as file:
        found = dict(re.findall(r"^ +(?:overheads\.|network\.)?(message_receive|message_interrupt|latency): \{value: ([\d.]+[a-z]+)", file.read(), re.M))
    unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}
    for name, seconds in stated.items():
        number, of = re.fullmatch(r"([\d.]+)([a-z]+)", found[name]).groups()
        assert abs(float(number) * unit[of] / seconds - 1) < 0.02, (name, found)


def kernels(heddle, folder):
    """Speeds of kernels that a description states are found again; the other kinds of work have core_speed."""
    path = os.path.join(folder, "kernels.yaml")
    run(heddle, "calibrate", "--quick", "--simulate",
        "{cores: 1, core_speed: 10Gf, kernels: [{kernel: fib.call, speed: 2Gf}, {kernel: uts.node, speed: 20Gf}]}", "--out", path)
    with open(path, encoding="utf-8") as file:
        found = re.findall(r"^    - {kernel: ([\w.]+), (?:size: [\w.]+, )?speed: ([\d.]+)Gf}", file.read(), re.M)
    speeds = {"fib.call": 2, "uts.node": 20}
    assert set(speeds) < {kernel for kernel, _ in found}, found
    for kernel, speed in found:
        assert abs(float(speed) / speeds.get(kernel, 10) - 1) < 0.02, (kernel, speed)


def mistakes(heddle, folder):
    """Options that would be ignored, and a platform file in the place of its readings."""
    out = os.path.join(folder, "cal.csv")
    said = run(heddle, "calibrate", "--simulate", "{cores: 1}", "--out", out, code=2)
    assert ".csv is the ending of the readings" in said.stderr and not os.path.exists(out), said.stderr
    out = os.path.join(folder, "cal.yaml")
    said = run(heddle, "calibrate", "--simulate", "{cores: 1}", "--set", "platform.cores=2", "--out", out, code=2)
    assert "--set requires --workload" in said.stderr, said.stderr
    said = run(heddle, "calibrate", "--simulate", "{cores: 1}", "--workload", "e.yaml", "--out", out, code=2)
    assert "excludes" in said.stderr and not os.path.exists(out), said.stderr


def main():
    arguments = script_arguments("heddle", "simulator")
    with tempfile.TemporaryDirectory() as folder:
        mistakes(arguments.heddle, folder)
        woken(arguments.heddle, folder)
        compared(arguments.heddle, folder)
        kernels(arguments.heddle, folder)
        declared(arguments.heddle, folder)
        native(arguments.heddle, folder)
        refused(arguments.heddle, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
