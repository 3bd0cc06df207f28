// Simulates every published graph on each of five machines, under every scheduler: it takes exactly what its
// schedule promises. sim_promises_external_test.cpp is the short form.
#include <unistd.h>

#include <string>
#include <tuple>

#include "tests/sim_promises_graphs.hpp"

namespace heddle::testing_promises {
namespace {

/// A scheduler, and the number of a machine. Each pair is a test of its own, so that they run side by side.
class AllPromises : public testing::TestWithParam<std::tuple<std::string, std::size_t>> {};

TEST_P(AllPromises, EveryGraph) {
    const auto& [scheduler, number] = GetParam();
    const std::vector<std::string> graphs = published_graphs();
    if (graphs.empty()) GTEST_SKIP() << "the published graphs are absent";
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("heddle_promises." + std::to_string(::getpid()));
    const NamedPlatform machine = platforms(folder).at(number);
    std::size_t tried = 0;
    for (const std::string& path : graphs) {
        const auto graph = graph_at(path);
        if (!graph || is_too_slow(scheduler, *graph, 200)) continue;
        expect_kept_or_refused(path, *graph, machine, scheduler);
        ++tried;
    }
    std::printf("%s, machine %zu: %zu runs\n", scheduler.c_str(), number, tried);
    EXPECT_GT(tried, 100);
    std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Schedulers, AllPromises,
                         testing::Combine(testing::ValuesIn(schedulers::names()),
                                          testing::Range(std::size_t{0}, platform_count)),
                         [](const auto& test) {
                             return std::get<0>(test.param) + "_" + std::to_string(std::get<1>(test.param));
                         });

}  // namespace
}  // namespace heddle::testing_promises
