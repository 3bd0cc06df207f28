// How much of a message a computation hides (overlap.hpp), with MPI. Start it by mpiexec -np 2.
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include "bench/native/overlap.hpp"

namespace {

using namespace heddle::bench;

class Partner {
public:
    explicit Partner(std::size_t bytes) : data_(bytes) {}

    std::span<std::uint8_t> room() { return data_; }
    void post() {
        MPI_Irecv(&sum_, 1, MPI_UINT64_T, 1, 0, MPI_COMM_WORLD, &requests_[0]);
        MPI_Isend(data_.data(), static_cast<int>(data_.size()), MPI_BYTE, 1, 0, MPI_COMM_WORLD,
                  &requests_[1]);
    }
    std::uint64_t wait() {
        MPI_Waitall(2, requests_, MPI_STATUSES_IGNORE);
        return sum_;
    }

private:
    std::vector<std::uint8_t> data_;
    std::uint64_t sum_ = 0;
    MPI_Request requests_[2];
};

void answer(const OverlapTask& task) {
    std::vector<std::uint8_t> data(task.bytes);
    for (std::uint64_t i = 0; i < task.messages(); ++i) {
        MPI_Recv(data.data(), static_cast<int>(data.size()), MPI_BYTE, 0, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        const std::uint64_t sum = overlap::sum_of(data);
        MPI_Send(&sum, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: %s BYTES ROUNDS STEPS,STEPS,...\n", argv[0]);
        return 2;
    }
    const OverlapTask task = OverlapTask::read(argv[1], argv[2], argv[3]);
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        Partner partner(task.bytes);
        measure_overlap(task, partner);
    } else {
        answer(task);
    }
    MPI_Finalize();
    return 0;
}
