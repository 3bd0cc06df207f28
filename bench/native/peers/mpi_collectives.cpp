// Measures collective calls of two processes with MPI: barrier|all_reduce|all_to_all BYTES COUNT. BYTES: of a
// rank's array, or of all blocks that a rank sends. Start it by mpirun -np 2.
#include <mpi.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "bench/native/outcome.hpp"

int main(int argc, char** argv) {
    using namespace heddle::bench;
    MPI_Init(&argc, &argv);
    if (argc != 4) {
        std::fprintf(stderr, "usage: %s barrier|all_reduce|all_to_all BYTES COUNT\n", argv[0]);
        return 2;
    }
    const std::string_view operation = argv[1];
    const std::size_t size = std::stoul(argv[2]) / sizeof(double);
    const long count = std::stol(argv[3]);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::vector<double> in(size, rank + 1.0), out(size);
    const int elements = static_cast<int>(size);
    const auto make = [&] {
        if (operation == "barrier") {
            MPI_Barrier(MPI_COMM_WORLD);
        } else if (operation == "all_reduce") {
            MPI_Allreduce(in.data(), out.data(), elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        } else {
            MPI_Alltoall(in.data(), elements / 2, MPI_DOUBLE, out.data(), elements / 2, MPI_DOUBLE,
                         MPI_COMM_WORLD);
        }
    };
    make();
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = seconds_now();
    for (long i = 0; i < count; ++i) make();
    const double seconds = seconds_now() - begin;
    if (rank == 0)
        Outcome().add("seconds", seconds).add("call_us", seconds / static_cast<double>(count) * 1e6).print();
    MPI_Finalize();
    return 0;
}
