/* The time of one collective call under SMPI, for each size: smpi_collective OPERATION BYTES... All ranks
 * begin at the same moment. Rank 0 prints a line for each size: bytes, and the seconds until the last rank
 * has returned. The root is rank 0. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Waits until a moment that all ranks agree on. */
static double meet(void) {
    double now = MPI_Wtime();
    double last = 0;
    MPI_Allreduce(&now, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    const double start = last + 1;
    const double rest = start - MPI_Wtime();
    const time_t seconds = (time_t)rest;
    const struct timespec wait = {seconds, (long)((rest - (double)seconds) * 1e9 + 0.5)};
    nanosleep(&wait, NULL);
    return MPI_Wtime();
}

static int call(const char* operation, double* in, double* out, int count) {
    if (!strcmp(operation, "bcast")) return MPI_Bcast(out, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (!strcmp(operation, "allreduce"))
        return MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (!strcmp(operation, "allgather"))
        return MPI_Allgather(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, MPI_COMM_WORLD);
    if (!strcmp(operation, "alltoall"))
        return MPI_Alltoall(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, MPI_COMM_WORLD);
    fprintf(stderr, "no operation %s\n", operation);
    return MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int size = 2; size < argc; ++size) {
        const int count = atoi(argv[size]) / (int)sizeof(double);
        /* All ranks share their arrays: only times count. */
        const int in_blocks = strncmp(argv[1], "all", 3) == 0 && strcmp(argv[1], "allreduce") != 0;
        const size_t elements = (size_t)count * (in_blocks ? (size_t)ranks : 1);
        double* const in = SMPI_SHARED_MALLOC(elements * sizeof(double));
        double* const out = SMPI_SHARED_MALLOC(elements * sizeof(double));
        const double begin = meet();
        call(argv[1], in, out, count);
        const double own = MPI_Wtime() - begin;
        double last = 0;
        MPI_Reduce(&own, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0) printf("%s %.12f\n", argv[size], last);
        SMPI_SHARED_FREE(in);
        SMPI_SHARED_FREE(out);
    }
    return MPI_Finalize();
}
