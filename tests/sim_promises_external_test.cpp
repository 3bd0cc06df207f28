// Simulates every published graph: it takes exactly what its schedule promises. Each graph runs on one of
// the five machines under one of the schedulers, in turn; sim_promises_slow_test.cpp tries all
// combinations.
#include <unistd.h>

#include <algorithm>

#include "tests/sim_promises_graphs.hpp"

namespace heddle::testing_promises {
namespace {

TEST(PublishedPromises, EveryGraphInTurns) {
    const std::vector<std::string> graphs = published_graphs();
    if (graphs.empty()) GTEST_SKIP() << "the published graphs are absent";
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("heddle_promises." + std::to_string(::getpid()));
    const auto machines = platforms(folder);
    const std::vector<std::string> names = schedulers::names();
    std::size_t turn = 0, tried = 0;
    for (const std::string& path : graphs) {
        const auto graph = graph_at(path);
        if (!graph) continue;
        ++turn;
        // 5 and 13 have no common divisor: all pairs come up.
        const std::string& name = names[turn % names.size()];
        if (is_too_slow(name, *graph, 60)) continue;
        expect_kept_or_refused(path, *graph, machines[turn % machines.size()], name);
        ++tried;
    }
    std::printf("%zu of %zu graphs\n", tried, graphs.size());
    EXPECT_GT(tried, 100);
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace heddle::testing_promises
