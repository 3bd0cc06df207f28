// Measures messages between two processes with MPI. Small ones are sent and received 64 at a time without
// waiting, large ones 8 at a time. With `threads=N`, N threads of each process share the messages
// (MPI_THREAD_MULTIPLE), each with a tag of its own. Start it by mpirun -np 2.
#include <mpi.h>

#include <thread>
#include <vector>

#include "bench/native/peers/messages_main.hpp"

namespace {

using namespace heddle::bench;

/// Sends or receives `count` messages, up to `window` at a time.
void stream(const Exchange& exchange, int rank, long count, int tag) {
    const long window = exchange.bytes > 4096 ? 8 : 64;
    const int bytes = static_cast<int>(exchange.bytes);
    std::vector<std::vector<char>> rooms(static_cast<std::size_t>(window), std::vector<char>(exchange.bytes));
    std::vector<MPI_Request> requests(static_cast<std::size_t>(window));
    for (long done = 0; done < count;) {
        const long now = std::min(window, count - done);
        for (std::size_t i = 0; i < static_cast<std::size_t>(now); ++i) {
            if (rank == 0) {
                MPI_Isend(rooms[i].data(), bytes, MPI_CHAR, 1, tag, MPI_COMM_WORLD, &requests[i]);
            } else {
                MPI_Irecv(rooms[i].data(), bytes, MPI_CHAR, 0, tag, MPI_COMM_WORLD, &requests[i]);
            }
        }
        MPI_Waitall(static_cast<int>(now), requests.data(), MPI_STATUSES_IGNORE);
        done += now;
    }
}

/// `stream`, by one thread or several, and the answer of each.
void stream_all(const Exchange& exchange, int rank) {
    const long threads = exchange.number("threads=", 1);
    const auto one = [&](int tag) {
        stream(exchange, rank, exchange.count / threads, tag);
        char over = 0;
        if (rank == 0) MPI_Recv(&over, 1, MPI_CHAR, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) MPI_Send(&over, 1, MPI_CHAR, 0, tag, MPI_COMM_WORLD);
    };
    if (threads == 1) return one(0);
    std::vector<std::jthread> all;
    for (int tag = 0; tag < threads; ++tag) all.emplace_back(one, tag);
}

void ping_pong(const Exchange& exchange, int rank) {
    std::vector<char> room(exchange.bytes);
    const int bytes = static_cast<int>(exchange.bytes);
    for (long i = 0; i < exchange.count; ++i) {
        if (rank == 0) MPI_Send(room.data(), bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(room.data(), bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) MPI_Send(room.data(), bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const Exchange exchange = Exchange::read(argc, argv);
    const int wanted = exchange.number("threads=", 1) > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    int provided = 0;
    MPI_Init_thread(&argc, &argv, wanted, &provided);
    if (provided < wanted) return 1;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = seconds_now();
    if (exchange.latency) {
        ping_pong(exchange, rank);
    } else {
        stream_all(exchange, rank);
    }
    if (rank == 0) exchange.report(seconds_now() - start);
    MPI_Finalize();
    return 0;
}
