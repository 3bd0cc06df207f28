"""The groups of compare.py that measure messages: between processes, between threads of the messaging model, and collective calls."""

import shutil

from measure import Found, ratio, table


def mpi(command, *way):
    way = way or ("--oversubscribe", "--mca", "btl", "tcp,self")
    return (("mpirun", "--allow-run-as-root", "-np", "2", *way, "--mca", "pml", "ob1"), command)


def show_messages(title, found, unit, value):
    print(f"\n### {title}\n")
    row = table("program", unit, "Heddle, active / this")
    reference = value(found["Heddle, active"])
    for name, said in found.items():
        row(name, f"{value(said):.2f}", ratio(reference, value(said)))


def messages(bench):
    share = 10 if bench.quick else 1
    have_mpi = bench.earlier or shutil.which("mpirun")

    def cases(heddle, kind, bytes_, count, sockets):
        count //= share
        all_ = {name: ((), ("heddle_messages", *how[:2], bytes_, count, how[2] if len(how) > 2 else "auto", "tcp"))
                for name, how in heddle.items()}
        all_ |= {name: ((), ("peer_socket_messages", kind, bytes_, count, *words)) for name, words in sockets.items()}
        all_["ZeroMQ"] = ((), ("peer_zeromq_messages", kind, bytes_, count))
        if have_mpi:
            all_["Open MPI, TCP"] = mpi(("peer_mpi_messages", kind, bytes_, count // 10 if kind == "rate" else count))
        return all_

    blocking = {"sockets": [], "sockets, pinned": ["pinned"]}

    levels = {"Heddle, active": "active", "Heddle, seam": "seam"}
    found = bench.alternate("latency", cases(
        {name: (level, "latency") for name, level in levels.items()}
        | {f"Heddle, {level}, {way}": (level, "latency", way) for level in ("active", "endpoint") for way in ("block", "poll")},
        "latency", 8, 50_000,
        blocking | {"sockets, polling": ["polling"], "sockets, polling and pinned": ["polling", "pinned"]}))
    show_messages("A message of 8 bytes, one way", found, "us", lambda said: said["one_way_us"])

    found = bench.alternate("rate", cases({name: (level, "rate") for name, level in levels.items()}, "rate", 16, 1_000_000, blocking))
    show_messages("Messages of 16 bytes, each sent at once", found, "M/s", lambda said: said["messages_per_second"] / 1e6)

    found = bench.alternate("gathered", cases(
        {"Heddle, active": ("active", "gathered"), "Heddle, seam": ("seam", "rate")}, "rate", 16, 2_000_000,
        {"sockets, 4 KiB at a time, parsed": ["aggregate=4096"], "sockets, 64 KiB at a time, parsed": ["aggregate=65536"]}))
    show_messages("Messages of 16 bytes, gathered", found, "M/s", lambda said: said["messages_per_second"] / 1e6)

    for bytes_, name, count in (65536, "64 KiB", 16384), (1 << 20, "1 MiB", 1024):
        found = bench.alternate("bulk", cases({name: (level, "bulk") for name, level in levels.items()}, "bulk", bytes_, count, blocking))
        show_messages(f"Messages of {name}", found, "GB/s", lambda said: said["gigabytes_per_second"])

    found = bench.alternate("inside", {"Heddle": ((), ("heddle_messages", "inside", "latency", 8, 1_000_000 // share))})
    print("\n### A message of 8 bytes from one worker to the other of a node\n")
    row = table("program", "us")
    for name, said in found.items():
        row(name, f"{said['one_way_us']:.3f}")

    # Inside a node: a chain of tasks, each on the other worker than the one before.
    steps = 100_000 // share
    found = bench.alternate("inside", {"Heddle": ((), ("heddle_graph", "chain", 1, steps, 2, 0, "strict"))})
    print("\n### From one worker to the other of a node: a task is made ready, and begins\n")
    row = table("program", "us")
    for name, said in found.items():
        row(name, f"{said['seconds'] / said['tasks'] * 1e6:.3f}")


def memory(bench):
    """Through shared memory. Receivers of MPI always poll, so for latency those of Heddle do."""
    share = 10 if bench.quick else 1
    have_mpi = bench.earlier or shutil.which("mpirun")

    def cases(kind, bytes_, count, how):
        count //= share
        all_ = {f"Heddle, {level}": ((), ("heddle_messages", level, kind, bytes_, count, how, "memory"))
                for level in ("active", "seam")}
        all_ |= {f"Heddle, active, {way}": ((), ("heddle_messages", "active", kind, bytes_, count, how, way))
                 for way in ("unix", "tcp")}
        if have_mpi:
            # The second without the kernel's copy from one process to the other.
            for name, options in (("", ()), (", two copies", ("--mca", "btl_vader_single_copy_mechanism", "none"))):
                all_["Open MPI, shared memory" + name] = mpi(
                    ("peer_mpi_messages", kind, bytes_, count), "--mca", "btl", "vader,self", *options)
        return all_

    found = bench.alternate("memory", cases("latency", 8, 200_000, "poll"))
    show_messages("Shared memory: a message of 8 bytes, one way", found, "us", lambda said: said["one_way_us"])
    for bytes_, name, count in (65536, "64 KiB", 16384), (1 << 20, "1 MiB", 2048):
        found = bench.alternate("memory", cases("bulk", bytes_, count, "auto"))
        show_messages(f"Shared memory: messages of {name}", found, "GB/s", lambda said: said["gigabytes_per_second"])


def messaging(bench):
    """Between threads of the messaging model, beside what others offer for the same. `/` in a heading: Heddle's divided by the peer's."""
    share = 10 if bench.quick else 1
    have_mpi = bench.earlier or shutil.which("mpirun")
    print("\n### Messages between threads\n")
    row = table("what", "Heddle", "peer", "", "/")

    def compare(what, unit, value, ours, peer, peers_name):
        cases = {"Heddle": ours if isinstance(ours[0], tuple) else ((), ours)}
        if peers_name.startswith("Open MPI") and not have_mpi:
            peer = None
        if peer:
            cases["peer"] = peer if isinstance(peer[0], tuple) else ((), peer)
        found = Found({name: value(said) for name, said in bench.alternate("messaging", cases).items()})
        of_peer = found.get("peer")
        row(what, f"{found['Heddle']:.3f} {unit}", f"{of_peer:.3f} {unit}" if of_peer else "", peers_name, ratio(found["Heddle"], of_peer))

    def one_way(said):
        return said["one_way_us"]

    def rate(said):
        return said["messages_per_second"] / 1e6

    def speed(said):
        return said["gigabytes_per_second"]

    count = 50_000 // share
    for way, words in ("block", ()), ("poll", ("polling",)):
        compare(f"8 bytes over TCP, one way, {way}", "us", one_way, ("heddle_messaging", "latency", 8, count, 1, way, "tcp"),
                ("peer_socket_messages", "latency", 8, count, *words), "sockets")
    compare("8 bytes through shared memory, one way", "us", one_way, ("heddle_messaging", "latency", 8, 4 * count, 1, "poll", "memory"),
            mpi(("peer_mpi_messages", "latency", 8, 4 * count), "--mca", "btl", "vader,self"), "Open MPI, shared memory")
    compare("8 bytes within a process, round trip", "us", lambda said: said["ns"] / 1000 if "ns" in said else 2 * said["one_way_us"],
            ("heddle_messaging", "inside", 8, 20 * count), ("peer_boost_fiber", "channel", 20 * count), "Boost.Fiber, channels")
    compare("1 MiB over TCP", "GB/s", speed, ("heddle_messaging", "bulk", 1 << 20, 2048 // share, 1, "auto", "tcp"),
            ("peer_socket_messages", "bulk", 1 << 20, 2048 // share), "sockets")
    messages_ = 800_000 // share
    for pairs in 1, 8, 64:
        threads = (f"threads={pairs}",) if pairs > 1 else ()
        compare(f"16 bytes over TCP, {pairs} pairs of threads", "M/s", rate,
                ("heddle_messaging", "rate", 16, messages_, pairs, "auto", "tcp"),
                mpi(("peer_mpi_messages", "rate", 16, messages_ // 10, *threads)) if pairs <= 8 else None,
                "Open MPI, TCP" + (", MPI_THREAD_MULTIPLE" if threads else "") if pairs <= 8 else "")


# --- collective calls

def collectives(bench):
    """Two ranks: processes over TCP and over shared memory, and threads of one process, beside Open MPI's two processes."""
    print("\n### Collective calls of two ranks, us\n")
    share = 10 if bench.quick else 1
    have_mpi = bench.earlier or shutil.which("mpirun")
    row = table("call", "bytes", "TCP", "Open MPI, TCP", "/", "shared memory", "two threads", "their node's arrays", "Open MPI, shared memory")
    for call, bytes_, count in (("barrier", 8, 20_000), ("all_reduce", 8, 20_000), ("all_reduce", 4 << 20, 100),
                                ("all_to_all", 1 << 20, 300), ("all_to_all", 4 << 20, 100)):
        count //= share
        cases = {"TCP": ((), ("heddle_collectives", "processes", call, bytes_, count, "auto", "tcp")),
                 "memory": ((), ("heddle_collectives", "processes", call, bytes_, count, "auto", "memory")),
                 "threads": ((), ("heddle_collectives", "threads", call, bytes_, count))}
        if bytes_ == 8:
            of_node = {"barrier": "barrier", "all_reduce": "value"}[call]
            cases["shared"] = ((), ("heddle_collectives", "shared", of_node, bytes_, count))
        if have_mpi:
            cases["MPI, TCP"] = mpi(("peer_mpi_collectives", call, bytes_, count))
            cases["MPI, memory"] = mpi(("peer_mpi_collectives", call, bytes_, count), "--mca", "btl", "vader,self")
        us = Found({name: said["call_us"] for name, said in bench.alternate("collectives", cases).items()})
        cell = {name: f"{us[name]:.2f}" if name in us else "" for name in (*cases, "shared", "MPI, TCP", "MPI, memory")}
        row(call, bytes_, cell["TCP"], cell["MPI, TCP"], ratio(us["TCP"], us.get("MPI, TCP")), cell["memory"], cell["threads"],
            cell["shared"], cell["MPI, memory"])
