// Tests that every number that a caller can state has a range, and that no number outside is accepted. It
// tries every registered workload, partitioner and generator, and every key of a configuration. New settings
// are included automatically.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "configs/experiment.hpp"
#include "configs/fields.hpp"
#include "graphs/generators/generator.hpp"
#include "partitioners/graph/graph_partitioner.hpp"
#include "tests/cli_testing.hpp"
#include "workloads/workload.hpp"

namespace heddle {
namespace {

using ::testing::HasSubstr;
using testing_cli::heddle;
using testing_cli::Said;

/// A setting with the words that lead to it.
struct Declared {
    std::string owner;
    Setting setting;
};

std::vector<Declared> declared() {
    std::vector<Declared> all;
    const auto add = [&all](const std::string& owner, const std::vector<Setting>& settings) {
        for (const Setting& setting : settings) all.push_back({owner, setting});
    };
    for (const auto& kind : workloads::all()) add("workload " + kind.name, kind.settings);
    for (const auto& kind : partitioners::graph_partitioners())
        add("partitioner " + kind.name, kind.settings());
    for (const auto& kind : graphs::generators()) add("generator " + kind.name, kind.settings());
    return all;
}

bool is_number(SettingKind kind) {
    return kind == SettingKind::integer || kind == SettingKind::number || kind == SettingKind::time ||
           kind == SettingKind::flops || kind == SettingKind::bytes;
}

/// The next integers outside a range that a `double` can state.
double below(double least) {
    return std::min(least - 1, std::nextafter(least, -HUGE_VAL));
}

double above(double most) {
    return std::max(most + 1, std::nextafter(most, HUGE_VAL));
}

/// What a setting answers to a value: an empty text if it accepts it.
std::string refusal(const Setting& setting, const std::string& value) {
    Settings settings({setting});
    try {
        settings.set(setting.name, value, {"a.yaml", 3});
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

TEST(Ranges, EverySettingRefusesWhatLiesOutsideItsRange) {
    const std::vector<Declared> all = declared();
    ASSERT_GT(all.size(), 60U);
    for (const auto& [owner, setting] : all) {
        if (!is_number(setting.kind)) continue;
        SCOPED_TRACE(owner + ", " + setting.name);
        std::vector<std::string> wrong = {"nan", "", "many", "1e400"};
        if (setting.kind == SettingKind::integer) {
            for (const double beyond : {below(setting.at_least), above(setting.at_most)})
                wrong.push_back(fmt::format("{:.0f}", beyond));
            wrong.insert(wrong.end(), {"18446744073709551616", "10000000000000000000", "1e19", "1.5"});
            if (setting.at_most < 4294967301.0) wrong.emplace_back("4294967301");
            EXPECT_EQ(refusal(setting, fmt::format("{:.0f}", setting.at_least)), "");
            EXPECT_EQ(refusal(setting, fmt::format("{:.0f}", setting.at_most)), "");
        }
        if (setting.kind == SettingKind::number) {
            if (setting.at_least > -1e300) wrong.push_back(fmt::format("{}", setting.at_least - 1));
            if (setting.at_most < 1e300) wrong.push_back(fmt::format("{}", 2 * setting.at_most + 1));
        }
        for (const std::string& value : wrong) {
            const std::string answer = refusal(setting, value);
            EXPECT_THAT(answer, HasSubstr("a.yaml:3: " + setting.name + ": ")) << value;
            EXPECT_THAT(answer, HasSubstr(range_in_words(setting))) << value;
        }
        if (!setting.initial.empty()) {
            EXPECT_EQ(refusal(setting, setting.initial), "");
        }
    }
}

TEST(Ranges, EveryKeyOfAConfigurationRefusesWhatLiesOutsideItsRange) {
    using Kind = configs::Shape::Kind;
    int tried = 0;
    for (const configs::Field& field : configs::fields()) {
        if (field.shape.kind != Kind::integer) continue;
        std::vector<std::string> wrong = {"nan", "1e19", "18446744073709551616", "10000000000000000000"};
        for (const double beyond : {below(field.shape.at_least), above(field.shape.at_most)})
            wrong.push_back(fmt::format("{:.0f}", beyond));
        if (field.shape.at_most < 4294967301.0) wrong.emplace_back("4294967301");
        const std::string range = range_in_words(field.shape.at_least, field.shape.at_most);
        for (const std::string& value : wrong) {
            ++tried;
            try {
                configs::read_experiment_text("workload: {name: earth_reduction}", "a.yaml",
                                              {configs::parse_override(field.key + "=" + value)});
                ADD_FAILURE() << field.key << "=" << value << " was accepted";
            } catch (const Error& error) {
                EXPECT_THAT(error.what(), HasSubstr(field.key + ": ")) << value;
                EXPECT_THAT(error.what(), HasSubstr(range)) << value;
            }
        }
    }
    EXPECT_GT(tried, 40);
}

TEST(Ranges, ACommandLineWithANumberOutsideItsRangeExitsWithTheRange) {
    const std::string file = HEDDLE_SOURCE_DIR "/configs/fib.yaml";
    const auto run = [&](const std::string& workload) {
        return heddle({"run", file, "--resolve", "--set", "workload={" + workload + "}"});
    };
    const std::vector<std::array<std::string, 3>> cases = {
        {"name: fib, n: 4294967306", "n: 4294967306", "0 to 78"},
        {"name: fib, cutoff: 4294967301", "cutoff: 4294967301", "0 to 79"},
        {"name: nqueens, n: 65546", "n: 65546", "0 to 18"},
        {"name: uts, tree: T3, children: 4294967304", "children: 4294967304", "1 to 100"},
        {"name: uts, branching: 1e19", "branching: 1e19", "1 to 1"},
        {"name: uts, root_seed: 2147483648", "root_seed: 2147483648", "0 to 2147483647"},
        {"name: uts, depth: 4294967295", "depth: 4294967295", "1 to 100000"},
        {"name: atgc, match: 4294967297", "match: 4294967297", "1 to 1000000"},
        {"name: atgc, length: 1000000000000", "length: 1000000000000", "1 to 100000000"},
        {"name: atgc, block_rows: 4294967297", "block_rows: 4294967297", "1 to 1000000000"},
        {"name: earth_lock, threads: 4294967297", "threads: 4294967297", "1 to 1000000"},
        {"name: bag, tasks: 100000001", "tasks: 100000001", "0 to 100000000"}};
    for (const auto& [workload, key, range] : cases) {
        const Said said = run(workload);
        EXPECT_EQ(said.code, 2) << workload;
        EXPECT_THAT(said.err, HasSubstr(key)) << workload;
        EXPECT_THAT(said.err, HasSubstr(range)) << workload;
    }
    const Said metis = heddle({"partition", "fft:points=8", "--partitioner", "metis", "--parts", "2", "--set",
                               "iterations=4294967297"});
    EXPECT_EQ(metis.code, 2);
    EXPECT_THAT(metis.err, HasSubstr("iterations: 4294967297 is out of range; expected 1 to 1000000"));
}

TEST(Ranges, AnIntegerDeclaredWithoutOneIsNamed) {
    try {
        const Settings settings({Setting{"limit", SettingKind::integer, "100", "no range"}});
        FAIL() << "declared";
    } catch (const std::logic_error& error) {
        EXPECT_THAT(error.what(), HasSubstr("the integer setting limit is declared without a range"));
    }
}

TEST(Ranges, AScoreThatWouldNotFitIsRefused) {
    const Said said = heddle({"run", HEDDLE_SOURCE_DIR "/configs/fib.yaml", "--resolve", "--set",
                              "workload={name: atgc, length: 4000, match: 1000000}"});
    EXPECT_EQ(said.code, 2);
    EXPECT_THAT(said.err, HasSubstr("may score more than"));
}

TEST(Ranges, ListsShowThem) {
    const Said json = heddle({"list", "workloads", "--json"});
    EXPECT_THAT(json.out, HasSubstr("\"range\": \"0 to 78\""));
    EXPECT_THAT(heddle({"list", "workloads"}).out, HasSubstr("which Fibonacci number (0 to 78)"));
    EXPECT_THAT(heddle({"schema"}).out, HasSubstr("which Fibonacci number (0 to 78)"));
}

}  // namespace
}  // namespace heddle
