// Figures 1 and 2 of the HyFi paper (Lowenthal, Subramanian: "HyFi: Architecture-independent parallelism on
// networks of multiprocessors", section 2), line by line: Jacobi iteration on arrays that all nodes share.
// The paper's text is beside it in docs/models/filaments.md.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "model/filaments.hpp"

namespace hyfi {

using heddle::filaments::F_CONTINUE;
using heddle::filaments::F_DONE;
using heddle::filaments::FilamentProgram;
using heddle::filaments::Filaments;
using heddle::filaments::PostPhase;
using heddle::filaments::Processor;
using heddle::filaments::Reduction;

/// A shared array of n rows, with a row of border above and below: the figures leave these out. `array[i][j]`
/// is an element.
struct Rows {
    heddle::dsm::Shared<double> shared;
    int n = 0;
    double* here = nullptr;

    double* operator[](int i) const { return here + (i + 1) * n; }
};

class Jacobi : public FilamentProgram {
public:
    Jacobi(int size, double tolerance) : n(size), epsilon(tolerance) {}

    // --- Figure 1
    void jacobi(Processor& self, int i, int j) {
        double temp = 0;
        new_[i][j] = (old[i - 1][j] + old[i + 1][j] + old[i][j - 1] + old[i][j + 1]) * 0.25;
        temp = std::abs(new_[i][j] - old[i][j]);
        if (self.value(maxdiff) < temp) self.value(maxdiff) = temp;
    }

    PostPhase check(Filaments& fil) {
        fil.reduce(maxdiff, heddle::filaments::max);
        sweeps++;
        if (fil.value(maxdiff) < epsilon) return F_DONE;
        std::swap(old, new_);
        fil.value(maxdiff) = 0.0;
        return F_CONTINUE;
    }

    // --- Figure 2
    void main(Filaments& fil) override {
        share_arrays(fil);

        num_rows_per_node = n / static_cast<int>(fil.nodes());
        num_rows_per_processor = num_rows_per_node / static_cast<int>(fil.processors());
        num_fil_per_processor = num_rows_per_processor * n;  // n filaments per row

        auto& phase = fil.create_phase<&Jacobi::jacobi, &Jacobi::check>(*this);
        auto& pool_array = fil.create_pool_array(phase, static_cast<std::size_t>(num_fil_per_processor));

        start_row = static_cast<int>(fil.my_node()) * num_rows_per_node;  // start_row and end_row
        end_row = start_row + num_rows_per_node - 1;                      // partition work between nodes

        for (int i = start_row, current_row = 0; i <= end_row; i++) {
            // determine which processor to use for this row
            const int proc_id = current_row++ / num_rows_per_processor;
            for (int j = 1; j < n - 1; j++)
                fil.create_filament(pool_array[static_cast<std::size_t>(proc_id)], i, j);
            proc_ids.push_back(proc_id);
        }
        for (std::size_t pool = 0; pool < pool_array.size(); ++pool)
            pool_sizes.push_back(pool_array[pool].filaments());
        fil.start();

        sum_rows(fil);
    }

    heddle::runtime::Answer answer() const override {
        return {{"sum", sum},
                {"sweeps", static_cast<double>(sweeps), heddle::runtime::AnswerValue::Combine::max}};
    }

protected:
    /// The shared variables: zeros, but for ones above the first row.
    void share_arrays(Filaments& fil) {
        const auto elements = static_cast<std::uint64_t>((n + 2) * n);
        const auto row = static_cast<std::uint64_t>(n);
        old = {fil.memory().allocate<double>("old", elements, {.row = row}), n};
        new_ = {fil.memory().allocate<double>("new", elements, {.row = row}), n};
        fil.seal();
        old.here = fil.memory().at(old.shared);
        new_.here = fil.memory().at(new_.shared);
        if (fil.my_node() != 0) return;
        for (int j = 0; j < n; j++) old[-1][j] = new_[-1][j] = 1.0;
    }
    void sum_rows(Filaments& fil) {
        fil.barrier();
        for (int i = start_row; i <= end_row; i++)
            for (int j = 1; j < n - 1; j++) sum += new_[i][j];
    }

    int n;
    double epsilon;
    Rows old, new_;
    Reduction<double> maxdiff{*this, "maxdiff"};

    int num_rows_per_node = 0;
    int num_rows_per_processor = 0;
    int num_fil_per_processor = 0;
    int start_row = 0;
    int end_row = 0;
    int sweeps = 0;
    double sum = 0;
    // What Figure 3 shows.
    std::vector<int> proc_ids;              ///< of each row of the node
    std::vector<std::uint64_t> pool_sizes;  ///< filaments in each pool of the node
};

}  // namespace hyfi
