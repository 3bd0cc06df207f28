// Compares the results of workloads of filaments with those of sequential programs, bit by bit.
#include "workloads/filaments.hpp"

#include <fmt/format.h>

namespace heddle::workloads {

std::string first_difference(const std::vector<double>& found, const std::vector<double>& expected,
                             std::int64_t n) {
    const auto size = static_cast<std::size_t>(n);
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (std::memcmp(&found[i], &expected[i], sizeof(double)) == 0) continue;
        return fmt::format("row {}, column {} is {}, and the sequential program's {}", i / size, i % size,
                           found[i], expected[i]);
    }
    return {};
}

}  // namespace heddle::workloads
