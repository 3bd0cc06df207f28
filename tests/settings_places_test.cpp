// Tests that refusals of workloads name the place of the setting that they are about, also those that need
// the machine or the run.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "tests/placement_testing.hpp"

namespace heddle {
namespace {

using StatedSettings = std::map<std::string, std::string>;

/// Prepares a workload for the cluster and runs it. `named` is stated in line 7. Returns what it refuses,
/// with an empty message if nothing.
Error refusal(const std::string& workload, const StatedSettings& stated, const std::string& named,
              NodeId nodes, CoreId cores) {
    try {
        const workloads::Kind& kind = workloads::find(workload);
        Settings settings(kind.settings);
        for (const auto& [key, value] : stated)
            settings.set(key, value, {"stated.yaml", key == named ? 7 : 3});
        const auto made = kind.make(settings);
        made->prepare(testing_placement::cluster(nodes, cores), {});
        inprocess::InprocessBackend backend({.nodes = nodes, .cores = cores});
        const auto result =
            runtime::Execution(backend, {}, [&](NodeId id) { return made->program(id); }).run();
        EXPECT_EQ(made->check(result).kind, workloads::Verdict::Kind::right);
    } catch (const Error& error) {
        return error;
    }
    return Error("");
}

void expect_place(const Error& error, const std::string& message) {
    EXPECT_NE(error.message().find(message), std::string::npos) << error.what();
    EXPECT_EQ(error.where().file, "stated.yaml");
    EXPECT_EQ(error.where().line, 7);
}

TEST(SettingsPlaces, AMessageBeyondADispatchersFragmentsNamesThem) {
    StatedSettings stated{{"carrier", "dispatcher"}, {"threads", "2"}, {"rounds", "1"}};
    expect_place(refusal("neighbours", {{"carrier", "dispatcher"}, {"bytes", "100MB"}}, "carrier", 1, 1),
                 "the dispatcher permits 2095872");
    stated["fragment"] = "1040B";
    expect_place(refusal("neighbours", {{"carrier", "dispatcher"}, {"fragment", "240B"}}, "fragment", 1, 1),
                 "the dispatcher permits 6400");
    stated["fragments"] = "9";
    expect_place(refusal("neighbours", stated, "fragments", 1, 1), "the dispatcher permits 9000");
    stated["fragments"] = "10";
    EXPECT_EQ(refusal("neighbours", stated, "fragments", 1, 1).message(), "");
}

TEST(SettingsPlaces, AnExchangeBetweenHandlersOnOneNodeIsRefusedBeforeTheRun) {
    for (const char* workload : {"ping_pong", "stream"}) {
        const StatedSettings stated{{"between", "handlers"}, {"bytes", "24"}, {"messages", "5"}};
        const Error error = refusal(workload, stated, "between", 1, 2);
        expect_place(error, "between handlers on one node");
        EXPECT_TRUE(error.is_refusal());
        EXPECT_EQ(refusal(workload, stated, "between", 2, 1).message(), "");
    }
}

TEST(SettingsPlaces, AnArrayOfFewerElementsThanThreadsIsRefusedBeforeTheRun) {
    StatedSettings stated{{"operation", "all_reduce_array"}, {"bytes", "24"}, {"repeats", "1"}};
    const Error error = refusal("collective", stated, "bytes", 2, 4);
    expect_place(error, "all_reduce_array of 3 elements by 4 threads");
    EXPECT_TRUE(error.is_refusal());
    stated["bytes"] = "32";
    EXPECT_EQ(refusal("collective", stated, "bytes", 2, 4).message(), "");
    stated["bytes"] = "0";
    stated["ranks"] = "threads";
    expect_place(refusal("collective", stated, "bytes", 2, 4), "of 0 elements by 1 threads");
    stated["bytes"] = "8";
    EXPECT_EQ(refusal("collective", stated, "bytes", 2, 4).message(), "");
}

}  // namespace
}  // namespace heddle
