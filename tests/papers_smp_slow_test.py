"""All of Figure 6 of the paper of Chiang, Wu and Lin, and what the paper expects of more nodes (docs/papers/smp.md). The bars: two threads against one
1.7, 2 and 2 within 15%, from the sizes on at which messages are divided; two threads ahead of MPI only."""

from papers_smp_testing import VERSIONS, lead, near, rows_of, seconds, speedup
from script_arguments import script_arguments


def sums(arguments):
    for total, times in seconds(arguments, "figure6a", "workload_total").items():
        if total >= 4194304:
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
        if tile > 0:
            assert lead(times) > 1, (n, times)
    for n in 1024, 2048:
        assert lead(cells[0, n]) < lead(cells[32, n]), (n, cells)


def scaling(arguments):
    """The lead grows with the number of machines if a machine's array is small."""
    times = {}
    for row in rows_of(arguments, "scaling"):
        processes = int(row["platform_processes"])
        machines = int(row["platform_nodes"]) // processes
        version = VERSIONS[processes, int(row["platform_cores"])]
        times.setdefault((int(row["workload_total"]) // machines, machines), {})[version] = float(row["answer_call_time"])
    leads = {key: lead(cell) for key, cell in times.items()}
    print(leads)
    for array in 65536, 1048576:
        of_array = [leads[array, machines] for machines in (4, 8, 16, 32, 64)]
        assert of_array[-1] > of_array[0] and min(of_array) > 1, (array, of_array)


def main():
    arguments = script_arguments("heddle", "simulator")
    sums(arguments)
    all_to_all(arguments)
    transposes(arguments)
    scaling(arguments)


main()
