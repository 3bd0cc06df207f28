// Tests of `platform.from`: a platform that builds on a file, what wins, and errors with file and line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "configs/cell.hpp"
#include "configs/experiment.hpp"

using namespace heddle;
using namespace heddle::configs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

namespace fs = std::filesystem;

class ConfigFrom : public ::testing::Test {
protected:
    ConfigFrom() {
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }
    ~ConfigFrom() override { fs::remove_all(folder_); }

    void write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name) << text;
    }
    Experiment read(const std::string& platform, const std::vector<std::string>& sets = {}) const {
        std::vector<Override> overrides;
        for (const std::string& set : sets) overrides.push_back(parse_override(set));
        return read_experiment_text("workload: {name: fib}\nbackend: sim\nplatform: " + platform,
                                    (folder_ / "e.yaml").string(), overrides);
    }
    std::string error_of(const std::string& platform) const {
        try {
            (void)read(platform);
        } catch (const Error& error) {
            return error.what();
        }
        return {};
    }

    const fs::path folder_ = fs::temp_directory_path() / ("heddle_from_" + std::to_string(::getpid()));
};

constexpr const char* here =
    "platform:\n  cores: 3\n  core_speed: 2Gf\n  memory_bandwidth: [5GBps, 9GBps]\n  overheads:\n"
    "    fork: 7ns\n    join: 8ns\ncalibration: {anything: [1, 2]}\n";

}  // namespace

// fib's unit is declared as 20 flops. At 8 Gf/s they take as long as 5 flops at a core_speed of 2 Gf/s.
TEST_F(ConfigFrom, AKernelsSpeedIsTheCostOfAUnitUnlessOneIsStated) {
    write("here.yaml", here);
    const std::string platform =
        "{from: here.yaml, kernels: [{kernel: uts.node, speed: 1Gf}, {kernel: fib.call, speed: 8Gf}]}";
    EXPECT_EQ(read(platform).settings.number("unit_cost"), 5);
    EXPECT_EQ(read(platform, {"workload.unit_cost=7f"}).settings.number("unit_cost"), 7);
    EXPECT_EQ(read(platform, {"workload.name=earth_fib"}).settings.number("unit_cost"), 20);
    EXPECT_EQ(read("{from: here.yaml}").settings.number("unit_cost"), 20);
}

TEST_F(ConfigFrom, AResolvedCostOfAKernelReadsBackAsOneThatIsNotStated) {
    for (const char* backend : {"sim", "native", "inprocess"}) {
        const std::vector<std::string> world = {std::string("backend=") + backend};
        const Experiment once = read("{core_speed: 2Gf, kernels: [{kernel: fib.call, speed: 8Gf}]}", world);
        EXPECT_EQ(once.declared_per_charged, 4);
        const Experiment twice = read_experiment_text(resolved_yaml(once), "b.yaml");
        EXPECT_EQ(resolved_yaml(twice), resolved_yaml(once));
        EXPECT_EQ(twice.settings.number("unit_cost"), 5);
        EXPECT_EQ(twice.declared_per_charged, 4);
        EXPECT_EQ(cell_name(twice), cell_name(once));
        const Experiment stated = read("{core_speed: 2Gf, kernels: [{kernel: fib.call, speed: 8Gf}]}",
                                       {world[0], "workload.unit_cost=5f"});
        EXPECT_EQ(stated.declared_per_charged, 1);
        EXPECT_NE(cell_name(stated), cell_name(once));
    }
}

// A cost is in flops, and the hosts of a platform file have speeds that the configuration does not know.
TEST_F(ConfigFrom, AKernelBesideAPlatformFileNeedsTheSpeedOfACore) {
    const std::string kernels = "kernels: [{kernel: fib.call, speed: 8Gf}]";
    EXPECT_THAT(error_of("{file: p.xml, " + kernels + "}"), HasSubstr("state platform.core_speed"));
    EXPECT_EQ(read("{file: p.xml, core_speed: 2Gf, " + kernels + "}").settings.number("unit_cost"), 5);
    EXPECT_EQ(error_of("{file: p.xml, kernels: [{kernel: uts.node, speed: 8Gf}]}"), "");
    write("here.yaml", here);
    EXPECT_EQ(read("{from: here.yaml, file: p.xml, " + kernels + "}").settings.number("unit_cost"), 5);
}

// A file may come from a program with more workloads.
TEST_F(ConfigFrom, AKernelThatNoWorkloadHasIsRefusedUnlessAFileStatesIt) {
    write("here.yaml", "kernels: [{kernel: their.own, speed: 1Gf}]\n");
    const Experiment once = read("{from: here.yaml}");
    EXPECT_EQ(once.kernels.size(), 1U);
    const std::string resolved = resolved_yaml(once);
    EXPECT_THAT(resolved, HasSubstr("their.own"));
    EXPECT_EQ(resolved_yaml(read_experiment_text(resolved, "b.yaml")), resolved);
    EXPECT_EQ(read("{from: here.yaml, kernels: [{kernel: their.own, speed: 2Gf}]}").kernels.size(), 1U);
    EXPECT_THAT(error_of("{from: here.yaml, kernels: [{kernel: their.owm, speed: 1Gf}]}"),
                HasSubstr("did you mean \"their.own\"?"));
    try {
        read("{kernels: [{kernel: uts.nod, speed: 1Gf}]}");
        FAIL() << "expected an error";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("did you mean \"uts.node\"?"));
    }
}

// The term of a product is declared as 2 flops, and a core does 2 Gf/s: 1 ns a term. At 4 and 1 Gf/s terms
// take 0.5 and 2 ns, and halfway between the sizes, in factors, 1.25 ns.
TEST_F(ConfigFrom, AKernelsSpeedMayDependOnTheSizeOfTheData) {
    const auto cost = [&](const std::string& n, const std::string& kernels) {
        return read("{core_speed: 2Gf, kernels: [" + kernels + "]}",
                    {"workload.name=matmul", "workload.n=" + n})
            .settings.number("unit_cost");
    };
    const std::string both =
        "{kernel: matmul.term, size: 400, speed: 1Gf}, {kernel: matmul.term, size: 100, speed: 4Gf}";
    EXPECT_EQ(cost("100", both), 1);
    EXPECT_EQ(cost("200", both), 2.5);
    EXPECT_EQ(cost("400", both), 4);
    EXPECT_EQ(cost("50", both), 1);
    EXPECT_EQ(cost("900", both), 4);
    EXPECT_EQ(cost("200", "{kernel: matmul.term, speed: 4Gf}"), 1);
    EXPECT_THROW(cost("200", both + ", {kernel: matmul.term, size: 100, speed: 2Gf}"), Error);
    const std::string without = ", {kernel: matmul.term, speed: 2Gf}";
    EXPECT_EQ(cost("200", both + without), 2.5);
    EXPECT_THROW(cost("200", both + without + without), Error);
}

TEST_F(ConfigFrom, WhatBytesOfMessagesTakeMayDependOnTheirSize) {
    const auto bytes_of = [&](const std::string& platform) {
        return read(platform).platform.overheads.message_bytes;
    };
    const std::string list =
        "message_bytes: [{size: 1KiB, send: 1us, receive: 2us}, {size: 3KiB, send: 1us, receive: 4us}]";
    using std::chrono::microseconds;
    const std::vector<MessageBytes> both = {{1024, microseconds(1), microseconds(2)},
                                            {3072, microseconds(1), microseconds(4)}};
    EXPECT_EQ(bytes_of("{overheads: {" + list + "}}"), both);
    write("here.yaml", "platform: {overheads: {message_send_kib: 7ns, " + list + "}}\n");
    EXPECT_EQ(bytes_of("{from: here.yaml, overheads: {message_send: 1ns}}"), both);
    // A line for all sizes, or nothing at all, is not added to by the file's sizes.
    EXPECT_THAT(bytes_of("{from: here.yaml, overheads: {message_receive_kib: 1ns}}"), testing::IsEmpty());
    EXPECT_THAT(bytes_of("{from: here.yaml, overheads: none}"), testing::IsEmpty());

    for (const auto& [wrong, message] : std::vector<std::pair<std::string, std::string>>{
             {"3us", "expected a list"},
             {"[3us]", "expected a size of messages"},
             {"[{size: 1KiB, send: 1us}]", "each needs `size`, `send` and `receive`"},
             {"[{size: 0B, send: 1us, receive: 1us}]", "out of range"},
             {"[{size: 1KiB, send: 1us, receive: -1us}]", "negative time"},
             {"[{size: 1KiB, sent: 1us, receive: 1us}]", "unknown key \"sent\""},
             {"[{size: 2KiB, send: 1us, receive: 1us}, {size: 1KiB, send: 1us, receive: 1us}]",
              "1KiB comes after 2KiB"},
             {"[{size: 1KiB, send: 2us, receive: 1us}, {size: 2KiB, send: 1us, receive: 1us}]",
              "2KiB take less than 1KiB"}}) {
        try {
            bytes_of("{overheads: {message_bytes: " + wrong + "}}");
            ADD_FAILURE() << wrong;
        } catch (const Error& error) {
            EXPECT_THAT(error.message(), testing::HasSubstr(message)) << wrong;
        }
    }
}

TEST_F(ConfigFrom, WhatTheFileStatesHoldsUnlessAKeyBesideItStatesOtherwise) {
    write("here.yaml", here);
    const Experiment e = read(
        "{from: here.yaml, nodes: 1000, core_speed: 4Gf, network: {latency: 3us}, overheads: {join: 1ns}}");
    EXPECT_EQ(e.platform.nodes, 1000U);
    EXPECT_EQ(e.platform.cores, 3U);
    EXPECT_EQ(e.platform.core_speed, 4e9);
    EXPECT_THAT(e.platform.memory_bandwidth.by_streams(), ElementsAre(5e9, 9e9));
    EXPECT_EQ(e.platform.overheads.fork, std::chrono::nanoseconds(7));
    EXPECT_EQ(e.platform.overheads.join, std::chrono::nanoseconds(1));
    EXPECT_EQ(e.platform.overheads.sync, Overheads::defaults().sync);
    EXPECT_EQ(read("{from: here.yaml}", {"platform.cores=2"}).platform.cores, 2U);
    EXPECT_EQ(read("{from: here.yaml}", {"platform.overheads.fork=2ns"}).platform.overheads.join,
              std::chrono::nanoseconds(8));
    EXPECT_EQ(read("{from: here.yaml, overheads: none}").platform.overheads.fork, Time::zero());
    // Keys alone, as `heddle platform show` reads them.
    write("keys.yaml", "cores: 5\noverheads: none\n");
    EXPECT_EQ(read("{from: keys.yaml, overheads: {fork: 3ns}}").platform.overheads.join, Time::zero());
    EXPECT_EQ(read_platform_text("{from: keys.yaml, nodes: 2}", (folder_ / "p.yaml").string(), {}).cores, 5U);
}

TEST_F(ConfigFrom, MistakesInTheFileHaveItsNameAndLine) {
    const std::string file = (folder_ / "here.yaml").string();
    write("here.yaml", "platform:\n  overheads:\n    frok: 1ns\n");
    EXPECT_THAT(error_of("{from: here.yaml}"), HasSubstr(file + ":3: unknown key \"frok\""));
    write("here.yaml", "platform:\n  core_speed: 3\n");
    EXPECT_THAT(error_of("{from: here.yaml}"), HasSubstr(file + ":2: platform.core_speed"));
    write("here.yaml", "platform: {cores: 2}\nworkload: {name: fib}\n");
    EXPECT_THAT(error_of("{from: here.yaml}"), HasSubstr(file + ":2: unknown key \"workload\""));
    write("here.yaml", "platform:\n  cores: 2\n  from: other.yaml\n");
    EXPECT_THAT(error_of("{from: here.yaml}"), HasSubstr(file + ":3: a file that platform.from names"));
    write("here.yaml", "platform: 3\n");
    EXPECT_THAT(error_of("{from: here.yaml}"), HasSubstr(file + ":1: platform: expected keys"));
    EXPECT_THAT(error_of("{from: gone.yaml}"), HasSubstr("e.yaml:3: platform.from: "));
    EXPECT_THAT(error_of("{from: [a]}"), HasSubstr("e.yaml:3: platform.from"));
}

TEST_F(ConfigFrom, TheFilesContentsAreAPartOfTheCell) {
    write("here.yaml", here);
    const Experiment once = read("{from: here.yaml, nodes: 4}");
    const std::string cell = cell_name(once);
    EXPECT_THAT(input_files(once), ElementsAre((folder_ / "here.yaml").string()));
    // The resolved configuration is the same experiment, and its cell is the same.
    const std::string yaml = resolved_yaml(once);
    EXPECT_EQ(resolved_yaml(read_experiment_text(yaml, "b.yaml")), yaml);
    EXPECT_EQ(cell_name(read_experiment_text(yaml, "b.yaml")), cell);
    write("here.yaml", std::string(here) + "#");
    EXPECT_NE(cell_name(once), cell);
    const auto before = determinants_of(once);
    write("here.yaml", here);
    EXPECT_EQ(cell_name(once), cell);
    EXPECT_EQ(changed(before, determinants_of(once)), (folder_ / "here.yaml").string() + " changed");
}
