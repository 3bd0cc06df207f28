/* ScaLAPACK's pdgemr2d: scalapack_redistribute CASES OUT. Each line of CASES has ten numbers: rows and
 * columns of a matrix; rows and columns of a block, and of the grid of processes, in the first layout; the
 * same in the second. The element (i, j) is i * columns + j. Process p writes into OUT.p, a line for each
 * case, its elements in the second layout, row by row. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
void Cblacs_gridexit(int context);
void Cpdgemr2d(int m, int n, double* a, int ia, int ja, int* desc_a, double* b, int ib, int jb, int* desc_b,
               int context);
int numroc_(const int* n, const int* block, const int* process, const int* source, const int* processes);
int indxl2g_(const int* local, const int* block, const int* process, const int* source, const int* processes);

static const int zero = 0;

/* A process's part of a matrix. */
struct Part {
    int descriptor[9];
    int context;
    int block[2], grid[2], at[2], count[2];
    double* elements; /* column by column */
};

static struct Part part_of(const int extent[2], const int* layout) {
    struct Part part;
    Cblacs_get(0, 0, &part.context);
    Cblacs_gridinit(&part.context, "Row", layout[2], layout[3]);
    for (int d = 0; d < 2; ++d) {
        part.block[d] = layout[d];
        part.grid[d] = layout[2 + d];
        part.at[d] = -1;
        part.count[d] = 0;
    }
    int grid[2];
    if (part.context >= 0) Cblacs_gridinfo(part.context, &grid[0], &grid[1], &part.at[0], &part.at[1]);
    for (int d = 0; d < 2 && part.at[0] >= 0; ++d)
        part.count[d] = numroc_(&extent[d], &part.block[d], &part.at[d], &zero, &part.grid[d]);
    const int rows = part.count[0] > 0 ? part.count[0] : 1;
    const int descriptor[9] = {
        1,   part.at[0] >= 0 ? part.context : -1, extent[0], extent[1], part.block[0], part.block[1], 0, 0,
        rows};
    for (int i = 0; i < 9; ++i) part.descriptor[i] = descriptor[i];
    part.elements = calloc((size_t)rows * (size_t)(part.count[1] > 0 ? part.count[1] : 1), sizeof(double));
    return part;
}

static int global(const struct Part* part, int d, int local) {
    const int from_one = local + 1;
    return indxl2g_(&from_one, &part->block[d], &part->at[d], &zero, &part->grid[d]) - 1;
}

static void end(struct Part* part) {
    if (part->at[0] >= 0) Cblacs_gridexit(part->context);
    free(part->elements);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", argv[2], rank);
    FILE* const in = fopen(argv[1], "r");
    FILE* const out = fopen(name, "w");
    int all = 0;
    Cblacs_get(0, 0, &all);
    Cblacs_gridinit(&all, "Row", 1, ranks);
    int extent[2], layouts[8];
    while (fscanf(in, "%d %d", &extent[0], &extent[1]) == 2) {
        for (int i = 0; i < 8; ++i)
            if (fscanf(in, "%d", &layouts[i]) != 1) return 1;
        struct Part from = part_of(extent, layouts), to = part_of(extent, layouts + 4);
        for (int j = 0; j < from.count[1]; ++j)
            for (int i = 0; i < from.count[0]; ++i)
                from.elements[j * from.count[0] + i] = global(&from, 0, i) * extent[1] + global(&from, 1, j);
        Cpdgemr2d(extent[0], extent[1], from.elements, 1, 1, from.descriptor, to.elements, 1, 1,
                  to.descriptor, all);
        for (int i = 0; i < to.count[0]; ++i)
            for (int j = 0; j < to.count[1]; ++j) fprintf(out, "%.0f ", to.elements[j * to.count[0] + i]);
        fprintf(out, "\n");
        end(&from);
        end(&to);
    }
    fclose(in);
    fclose(out);
    return MPI_Finalize();
}
