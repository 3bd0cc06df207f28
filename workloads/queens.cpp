#include "workloads/queens.hpp"

#include <fmt/format.h>

namespace heddle::workloads {

void check_queens(const Settings& settings) {
    if (settings.integer("n") < static_cast<std::int64_t>(known_queens.size())) return;
    throw Error(fmt::format("{} queens take too long", settings.integer("n")), "n is at most 18",
                settings.where("n"));
}

}  // namespace heddle::workloads
