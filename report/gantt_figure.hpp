// Draws a recorded run over time: each task of a short run, shares of time of a long one.
#pragma once

#include "report/page.hpp"
#include "report/recorded.hpp"

namespace heddle::report {

/// A bar for each task with its name, if there are at most some thousand, and none waits while its worker
/// runs others. Else the share of time in user work, by workers and by equal parts of the makespan. With its
/// table.
void add_gantt(Page& page, const Recorded& recorded);

/// Workers one by one, or equally many consecutive ones together, so that at most `rows_max` rows remain.
struct WorkerRows {
    std::size_t together = 1;
    std::size_t rows = 0;
    std::string name(const Recorded& recorded, std::size_t row) const;
};
WorkerRows rows_of(const Recorded& recorded, std::size_t rows_max);

}  // namespace heddle::report
