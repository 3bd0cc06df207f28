// Simulates every published graph on each of five machines, under every scheduler: it takes exactly what its
// schedule promises. sim_promises_external_test.cpp is the short form.
#include <unistd.h>

#include "tests/sim_promises_graphs.hpp"

namespace heddle::testing_promises {
namespace {

class AllPromises : public testing::TestWithParam<std::string> {};

TEST_P(AllPromises, EveryGraphOnEveryMachine) {
    const std::vector<std::string> graphs = published_graphs();
    if (graphs.empty()) GTEST_SKIP() << "the published graphs are absent";
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("heddle_promises." + std::to_string(::getpid()));
    std::size_t tried = 0;
    for (const NamedPlatform& machine : platforms(folder)) {
        for (const std::string& path : graphs) {
            const auto graph = graph_at(path);
            if (!graph || is_too_slow(GetParam(), *graph, 200)) continue;
            expect_kept_or_refused(path, *graph, machine, GetParam());
            ++tried;
        }
    }
    std::printf("%s: %zu runs\n", GetParam().c_str(), tried);
    EXPECT_GT(tried, 500);
    std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Schedulers, AllPromises, testing::ValuesIn(schedulers::names()),
                         [](const auto& scheduler) { return scheduler.param; });

}  // namespace
}  // namespace heddle::testing_promises
