// SimGrid is loaded by the first simulation of a process, not before, and is part of the names of simulated
// cells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "configs/program_code.hpp"
#include "sim/simgrid_module.hpp"
#include "workloads/workload.hpp"

namespace heddle::sim {
namespace {

std::vector<std::string> loaded_libraries() {
    std::vector<std::string> names;
    ::dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* list) {
            static_cast<std::vector<std::string>*>(list)->emplace_back(info->dlpi_name);
            return 0;
        },
        &names);
    return names;
}

std::vector<std::string> parts_of(const std::vector<configs::CodeId>& code) {
    std::vector<std::string> parts;
    parts.reserve(code.size());
    for (const auto& [part, id] : code) parts.push_back(part);
    return parts;
}

void load_simgrid_when_needed() {
    const workloads::Kind& fib = workloads::find("fib");
    EXPECT_THAT(parts_of(configs::program_code(fib, false)), ::testing::Not(::testing::Contains("simgrid")));
    EXPECT_THAT(loaded_libraries(), ::testing::Not(::testing::Contains(::testing::HasSubstr("libsimgrid"))));

    EXPECT_THAT(parts_of(configs::program_code(fib, true)), ::testing::Contains("simgrid"));
    const SimgridModule& module = simgrid_module();
    EXPECT_THAT(loaded_libraries(), ::testing::Contains(::testing::HasSubstr("libsimgrid")));
    EXPECT_EQ(&simgrid_module(), &module);

    // It is loaded now, and is still no part of a native cell.
    EXPECT_THAT(parts_of(configs::program_code(fib, false)), ::testing::Not(::testing::Contains("simgrid")));
}

// In a process of its own, because another test may have loaded it into this one.
TEST(SimgridModule, IsLoadedByTheFirstThatNeedsIt) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            load_simgrid_when_needed();
            std::exit(::testing::Test::HasFailure() ? 1 : 0);
        },
        ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace heddle::sim
