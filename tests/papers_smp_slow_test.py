"""Tests all of Figure 6 of the paper of Chiang, Wu and Lin, and what the paper expects of more nodes
(docs/papers/smp.md). The speedups of two threads over one are 1.7, 2 and 2 within 15%, from the sizes on at which
messages are divided. Two threads are ahead of MPI only.
"""

from papers_smp_testing import lead, near, rows_of, seconds, speedup
from script_arguments import script_arguments


def sums(arguments):
    for total, times in seconds(arguments, "figure6a", "workload_total").items():
        if total >= 1048576:
            near(speedup(times), 1.7, 15, f"(a), {total}")
        assert lead(times) > 1, (total, times)


def all_to_all(arguments):
    for total, times in seconds(arguments, "figure6b", "workload_total").items():
        if total >= 262144:
            near(speedup(times), 2, 15, f"(b), {total}")
        assert lead(times) > 1, (total, times)
    for bytes_of_block, times in seconds(arguments, "figure6b_blocks", "workload_bytes").items():
        assert lead(times) > 2, (bytes_of_block, times)
    plain = ("platform.overheads.message_send_kib=0us", "platform.overheads.message_receive_kib=0us")
    for total, times in seconds(arguments, "figure6b", "workload_total", plain).items():
        assert speedup(times) < 1.1, (total, times)


def transposes(arguments):
    cells = seconds(arguments, "figure6c", "workload_n", time="answer_round_time", of=["workload_tile"])
    for (tile, n), times in cells.items():
        if n >= 256:
            near(speedup(times), 2, 15, f"(c), tile {tile}, n {n}")
        # Without tiles and with n = 1024 two threads are behind: docs/papers/smp.md says why.
        assert (lead(times) > 1) != ((tile, n) == (0, 1024)), (tile, n, times)
    leads = [lead(cells[32, n]) for n in (256, 512, 1024, 2048)]
    # The lead shrinks from 1.12 to 1.06; from n = 1024 on it is the same within a hundredth.
    assert all(later < 1.01 * before for before, later in zip(leads, leads[1:])) and leads[-1] < 0.96 * leads[0], leads
    for n in 1024, 2048:
        assert lead(cells[0, n]) < lead(cells[32, n]), (n, cells)


def of_machines(arguments, name):
    """{(machines, cores of each, bytes of all): {whether each core is a rank: row}}"""
    cells = {}
    for row in rows_of(arguments, name):
        processes, cores = int(row["platform_processes"]), int(row["platform_cores"])
        key = (int(row["platform_nodes"]) // processes, processes * cores, int(row["workload_total"]))
        cells.setdefault(key, {})[processes > 1] = row
    return cells


def lead_of(cell):
    """How many times as long ranks for each core take as teams."""
    return float(cell[True]["answer_call_time"]) / float(cell[False]["answer_call_time"])


def scaling(arguments):
    """Two threads are ahead with any number of machines, and their lead grows where messages are small."""
    leads = {(total // machines, machines): lead_of(cell) for (machines, _, total), cell in of_machines(arguments, "scaling").items()}
    print(leads)
    assert len(leads) == 15 and min(leads.values()) > 1, leads
    of_small = [leads[4096, machines] for machines in (4, 8, 16, 32, 64)]
    assert of_small == sorted(of_small) and of_small[-1] > 1.5 * of_small[0], of_small


def sizes(arguments):
    """Teams are ahead with small arrays, by about the number of cores, and ranks for each core with large ones. The messages are those of the closed form: p (p-1) a call,
    and p lg p at the end."""
    cells = of_machines(arguments, "sizes")
    leads = {}
    for (machines, cores, total), cell in cells.items():
        for flat, row in cell.items():
            ranks = machines * (cores if flat else 1)
            expected = 2 * ranks * (ranks - 1) + ranks * (ranks - 1).bit_length()
            assert float(row["answer_collective_messages"]) == expected, (machines, cores, total, flat, row["answer_collective_messages"])
        leads.setdefault((machines, cores), []).append((total, lead_of(cell)))
    assert len(leads) == 8, leads
    for (machines, cores), of_sizes in leads.items():
        of_sizes.sort()
        print(machines, cores, of_sizes)
        near(of_sizes[0][1], cores, 15, f"{machines} x {cores}")
        assert of_sizes[-1][1] < 1, (machines, cores, of_sizes)


def main():
    arguments = script_arguments("heddle", "simulator")
    sums(arguments)
    all_to_all(arguments)
    transposes(arguments)
    scaling(arguments)
    sizes(arguments)


main()
