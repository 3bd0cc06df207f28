// Tests what a run leaves: fields, files, and that equal simulations leave equal bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/csv_table.hpp"
#include "results/record.hpp"
#include "results/store.hpp"

namespace heddle::results {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A record as it would come from a simulation: `wall` is what differs between two equal ones.
Record example(std::uint64_t seed = 1, double wall = 0.25) {
    Record record;
    record.experiment = configs::read_experiment_text(
        "name: example\nworkload: {name: fib, n: 20}\nbackend: inprocess\nplatform: {nodes: 3, cores: 2}",
        "a.yaml");
    record.experiment = record.experiment.with_seed(seed);
    record.determinants = configs::determinants_of(record.experiment);
    record.topology = {.nodes = 3, .cores = 2, .group = {0, 0, 1}};
    record.result.complete = true;
    record.result.answer = {{"value", 6765}, {"share", 0.125}};
    record.result.makespan = Time(1'500'000);
    record.result.total.tasks = 123;
    record.result.total.steals_within_node = 7;
    record.result.total.steals_between_nodes = 9;
    record.result.total.messages = 44;
    record.result.total.bytes = 5000;
    record.result.steals = {{{1, 0}, 4}, {{2, 1}, 5}};
    record.verdict = {workloads::Verdict::Kind::right, "by hand"};
    record.versions = {"0.1.0", "3.32", "gcc 12"};
    record.timing = {wall, 0.5, 1 << 20, "here"};
    return record;
}

class Results : public testing::Test {
protected:
    void SetUp() override {
        folder = fs::temp_directory_path() / ("heddle_result_files_test." + std::to_string(::getpid()));
        fs::remove_all(folder);
    }
    void TearDown() override { fs::remove_all(folder); }

    static std::string read(const fs::path& path) {
        std::ifstream file(path, std::ios::binary);
        EXPECT_TRUE(file) << path;
        return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }

    fs::path folder;
};

TEST_F(Results, TheSummaryHasEveryFieldThatWasPromised) {
    const std::string text = summary_json({example()});
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
    const json object = json::parse(text);
    EXPECT_EQ(object["workload"], "fib");
    EXPECT_EQ(object["backend"], "inprocess");
    EXPECT_EQ(object["ok"], true);
    EXPECT_EQ(object["answer"].dump(), R"({"share":0.125,"value":6765})");  // whole numbers stay whole
    EXPECT_THAT(text, HasSubstr("\"makespan_seconds\":1.5e-06"));
    EXPECT_EQ(object["tasks"], 123);
    EXPECT_EQ(object["steals"]["within_node"], 7);
    EXPECT_EQ(object["steals"]["between_nodes"], 9);
    EXPECT_EQ(object["steals"]["matrix"].dump(), "[[1,0,4],[2,1,5]]");
    EXPECT_EQ(object["messages"], 44);
    EXPECT_EQ(object["bytes"], 5000);
    EXPECT_EQ(object["wall_seconds"], 0.25);
    EXPECT_EQ(object["peak_memory_bytes"], 1048576);
    EXPECT_EQ(object["seed"], 1);
    EXPECT_EQ(object["configuration"]["workload"]["n"], 20);
    EXPECT_EQ(object["versions"]["simgrid"], "3.32");
    EXPECT_FALSE(object.contains("runs"));
}

TEST_F(Results, SeveralRunsAreSummedUpByTheMedian) {
    std::vector<Record> records;
    for (const int makespan : {50, 10, 40, 20}) {
        records.push_back(example(records.size() + 1));
        records.back().result.makespan = Time(makespan);
    }
    EXPECT_EQ(median_run(records), 3U);  // of 10 20 40 50
    records.back().verdict = {workloads::Verdict::Kind::wrong, "no"};
    const json object = json::parse(summary_json(records));
    EXPECT_EQ(object["seed"], 4);
    EXPECT_EQ(object["ok"], false);
    ASSERT_EQ(object["runs"].size(), 4U);
    EXPECT_EQ(object["runs"][1]["seed"], 2);
    EXPECT_EQ(object["runs"][1]["ok"], true);
    EXPECT_FALSE(object["runs"][1].contains("configuration"));
}

TEST_F(Results, EqualSimulationsLeaveEqualBytesWhateverTheMachineDid) {
    Store(folder / "a").write(example(5, 0.25));
    Store(folder / "b").write(example(5, 99.0));
    const std::string cell = configs::cell_name(example(5).experiment);
    for (const std::string name : {"runs.csv", "result.json", "steals.csv"}) {
        const fs::path below = name == "runs.csv" ? fs::path(name) : fs::path(cell) / name;
        EXPECT_EQ(read(folder / "a" / below), read(folder / "b" / below)) << name;
    }
    // What the machine did is beside them.
    EXPECT_NE(read(folder / "a" / cell / "timing.json"), read(folder / "b" / cell / "timing.json"));
    EXPECT_NE(read(folder / "a" / "timings.csv"), read(folder / "b" / "timings.csv"));
    for (const char* word : {"wall_seconds", "peak_memory", "here"}) {
        EXPECT_THAT(read(folder / "a" / cell / "result.json"), Not(HasSubstr(word)));
        EXPECT_THAT(read(folder / "a" / "runs.csv"), Not(HasSubstr(word)));
    }
}

TEST_F(Results, ACellIsADirectoryNamedByItsConfiguration) {
    const Store store(folder);
    const Record record = example();
    store.write(record);
    const fs::path cell = folder / configs::cell_name(record.experiment);
    EXPECT_EQ(store.path_of(record), cell.string());
    EXPECT_EQ(read(cell / "steals.csv"), "thief,victim,tasks\n1,0,4\n2,1,5\n");
    EXPECT_EQ(json::parse(read(cell / "result.json"))["tasks"], 123);
    EXPECT_EQ(json::parse(read(cell / "timing.json"))["wall_seconds"], 0.25);
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
    }
}

// The tables of an earlier run are not of this one, whether they were compressed since or not.
TEST_F(Results, ARunTakesThePlaceOfWhatWasRecordedBefore) {
    const Store store(folder);
    const Record record = example();
    const std::string cell = store.make_cell(record.determinants);
    const auto record_all = [&](const std::string& ending) {
        for (const char* table : {"tasks.csv", "workers.csv", "timeline.csv"})
            std::ofstream(cell + "/" + table + ending) << "x";
    };
    record_all(".gz");
    EXPECT_EQ(recorded_table(cell, "tasks.csv"), cell + "/tasks.csv.gz");
    record_all("");
    EXPECT_EQ(recorded_table(cell, "tasks.csv"), cell + "/tasks.csv");
    store.write(record, Store::Recorded::yes);
    EXPECT_EQ(recorded_table(cell, "tasks.csv"), cell + "/tasks.csv");
    EXPECT_FALSE(fs::exists(cell + "/timeline.csv.gz"));
    record_all(".gz");
    store.write(record);
    for (const char* table : {"tasks.csv", "workers.csv", "timeline.csv"})
        EXPECT_EQ(recorded_table(cell, table), "") << table;
}

TEST_F(Results, RunsAreRowsAndVariablesAreColumns) {
    const Store store(folder);
    for (const std::uint64_t seed : {1U, 2U, 1U}) store.write(example(seed));  // the third replaces the first
    const CsvTable table = CsvTable::parse(read(folder / "runs.csv"));
    ASSERT_EQ(table.rows().size(), 2U);
    const auto value = [&table](std::size_t row, const std::string& column) -> std::string {
        const auto found = std::find(table.columns().begin(), table.columns().end(), column);
        return found == table.columns().end()
                   ? "no such column"
                   : table.rows()[row][static_cast<std::size_t>(found - table.columns().begin())];
    };
    EXPECT_EQ(value(0, "seed"), "1");
    EXPECT_EQ(value(1, "seed"), "2");
    EXPECT_EQ(value(1, "makespan_seconds"), "1.5e-06");
    EXPECT_EQ(value(1, "answer_value"), "6765");
    EXPECT_EQ(value(1, "platform_nodes"), "3");
    EXPECT_EQ(value(1, "schedule_stealing_victim"), "local_first");
    EXPECT_EQ(value(1, "workload_n"), "20");
    EXPECT_EQ(value(1, "workload_name"), "fib");
    EXPECT_EQ(value(1, "repeat"), "no such column");
}

TEST_F(Results, TheLastColumnsAreCountsOfSharedMemoryWhereThereIsSome) {
    const Store store(folder);
    store.write(example(1));
    Record shares = example(2);
    shares.result.total.page_faults = 5;
    shares.result.total.page_requests = 4;
    shares.result.total.pages_moved = 3;
    shares.result.total.page_bytes = 12288;
    shares.result.sharing.arrays.push_back({"grid", 0, {}});
    store.write(shares);
    const CsvTable table = CsvTable::parse(read(folder / "runs.csv"));
    const std::vector<std::string> names{"files_id",           "memory_page_faults", "memory_page_requests",
                                         "memory_pages_moved", "memory_page_bytes",  "memory_invalidations"};
    const auto first = static_cast<std::ptrdiff_t>(table.columns().size() - names.size());
    ASSERT_GE(first, 0);
    EXPECT_EQ(std::vector(table.columns().begin() + first, table.columns().end()), names);
    const auto last = [&](std::size_t row) {
        const auto& values = table.rows()[row];
        return std::vector(values.begin() + first + 1, values.end());
    };
    EXPECT_EQ(last(0), std::vector<std::string>(5));
    EXPECT_EQ(last(1), (std::vector<std::string>{"5", "4", "3", "12288", "0"}));
}

TEST_F(Results, SeveralWritersLoseNoRow) {
    std::vector<pid_t> writers;
    for (std::uint64_t first = 0; first < 4; ++first) {
        writers.push_back(fork());
        if (writers.back() != 0) continue;
        for (std::uint64_t i = 0; i < 5; ++i) Store(folder).write(example(first * 5 + i));
        _exit(0);
    }
    for (const pid_t writer : writers) {
        int status = -1;
        waitpid(writer, &status, 0);
        EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(CsvTable::parse(read(folder / "runs.csv")).rows().size(), 20U);
    EXPECT_EQ(CsvTable::parse(read(folder / "timings.csv")).rows().size(), 20U);
}

std::string refusal(const std::string& directory) {
    try {
        const Store store(directory);
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

TEST_F(Results, ADirectoryThatCannotBeWrittenIsRefusedBeforehand) {
    fs::create_directories(folder);
    std::ofstream(folder / "file") << "x";
    EXPECT_THAT(refusal(folder / "file"),
                testing::MatchesRegex("results cannot be written to .*file \\(.*\\); choose another.*"));
    EXPECT_THAT(refusal(folder / "file" / "below"), HasSubstr("choose another directory with --out"));
    EXPECT_THAT(refusal("/proc/heddle"), HasSubstr("results cannot be written to /proc/heddle"));
    EXPECT_EQ(refusal(folder / "new" / "below"), "accepted");
    fs::create_directories(folder / "other");
    std::ofstream(folder / "other" / "runs.csv") << "a,b\n1,2\n";
    EXPECT_THAT(refusal(folder / "other"),
                HasSubstr("runs.csv: the first column is not `cell`; the table was not written by heddle"));
}

TEST(CsvTable, KeepsCommasQuotesAndLines) {
    CsvTable table;
    table.put({{"cell", "1"}, {"a", "x,y"}, {"b", "say \"no\""}});
    table.put({{"cell", "2"}, {"b", "two\nlines"}, {"c", ""}});
    const CsvTable again = CsvTable::parse(table.csv());
    EXPECT_EQ(again.csv(), table.csv());
    EXPECT_THAT(again.columns(), ElementsAre("cell", "a", "b", "c"));
    EXPECT_THAT(again.rows()[0], ElementsAre("1", "x,y", "say \"no\"", ""));
    EXPECT_THAT(again.rows()[1], ElementsAre("2", "", "two\nlines", ""));
    EXPECT_TRUE(CsvTable::parse("").columns().empty());
}

}  // namespace
}  // namespace heddle::results
