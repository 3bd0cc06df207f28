// Loads every real graph file: it has the counts that are known for it, or is refused if it is a bad one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "graphs/graph_file.hpp"
#include "graphs/kernel_costs.hpp"

namespace heddle::graphs {
namespace {

namespace fs = std::filesystem;

class RealGraphs : public testing::Test {
protected:
    void SetUp() override {
        if (!fs::exists(data_)) GTEST_SKIP() << data_ << " is absent";
    }
    std::vector<fs::path> files(const std::string& folder, const std::set<std::string>& endings) const {
        std::vector<fs::path> found;
        for (const auto& entry : fs::recursive_directory_iterator(data_ / folder)) {
            if (endings.contains(entry.path().extension().string())) found.push_back(entry.path());
        }
        std::sort(found.begin(), found.end());
        EXPECT_FALSE(found.empty()) << folder;
        return found;
    }

    const fs::path data_ = fs::path(HEDDLE_SOURCE_DIR) / ".." / "shared" / "data";
};

/// Rows of a table by the first column.
std::map<std::string, std::map<std::string, std::string>> table_in(const fs::path& path) {
    std::ifstream file(path);
    std::string line, cell;
    std::vector<std::string> columns;
    std::map<std::string, std::map<std::string, std::string>> rows;
    while (std::getline(file, line)) {
        std::vector<std::string> cells;
        for (std::istringstream in(line); std::getline(in, cell, ',');) cells.push_back(cell);
        if (columns.empty())
            columns = cells;
        else
            for (std::size_t i = 0; i < cells.size(); ++i) rows[cells[0]][columns[i]] = cells[i];
    }
    return rows;
}

TEST_F(RealGraphs, StandardTaskGraphsHaveTheWorkAndCriticalPathOfTheirTable) {
    const auto known = table_in(data_ / "stg" / "stg_bounds_shared.csv");
    std::size_t compared = 0;
    for (const fs::path& path : files("stg", {".stg"})) {
        const GraphFile file = read_task_graph(path.string());
        const auto row = known.find(fs::relative(path, data_ / "stg").string());
        if (row == known.end()) continue;
        ++compared;
        EXPECT_EQ(file.graph.tasks(), std::stoul(row->second.at("tasks")) + 2) << path;
        EXPECT_EQ(file.graph.total_work(), std::stod(row->second.at("total_work"))) << path;
        EXPECT_EQ(file.graph.critical_path().length, std::stod(row->second.at("critical_path"))) << path;
    }
    EXPECT_GT(compared, 100U);
}

TEST_F(RealGraphs, SinnenGraphsHaveTheTasksOfTheirName) {
    for (const fs::path& path : files("sinnen", {".dot"})) {
        const GraphFile file = read_task_graph(path.string());
        const std::string name = path.filename().string();
        EXPECT_EQ(file.graph.tasks(), std::stoul(name.substr(name.find("Nodes_") + 6))) << path;
    }
}

TEST_F(RealGraphs, WorkflowExecutionsHaveTheTasksEdgesAndRuntimesOfTheirSummary) {
    const auto known = table_in(data_ / "wfcommons" / "SUMMARY.csv");
    for (const fs::path& path : files("wfcommons", {".json"})) {
        const GraphFile file = read_task_graph(path.string());
        const auto& row = known.at(path.filename().string());
        EXPECT_EQ(file.graph.tasks(), std::stoul(row.at("tasks"))) << path;
        EXPECT_EQ(file.graph.edges(), std::stoul(row.at("edges"))) << path;
        EXPECT_NEAR(file.graph.total_work(), std::stod(row.at("sum_task_runtime_s")), 0.01) << path;
        EXPECT_NEAR(file.graph.critical_path().length, std::stod(row.at("critical_path_runtime_s")), 0.01)
            << path;
        EXPECT_EQ(file.unit, WorkUnit::seconds);
        EXPECT_FALSE(file.kernels.empty()) << path;
    }
}

TEST_F(RealGraphs, PegasusWorkflowsLoadAndSimgridsTwoWithCyclesAreRefused) {
    std::size_t cycles = 0;
    std::vector<fs::path> all = files("dax", {".xml"});
    for (const fs::path& path : files("dag", {".xml", ".dot", ".json"})) all.push_back(path);
    for (const fs::path& path : all) {
        if (path.string().find("with_cycle") == std::string::npos) {
            EXPECT_GT(read_task_graph(path.string()).graph.edges(), 0U) << path;
            continue;
        }
        ++cycles;
        try {
            read_task_graph(path.string());
            ADD_FAILURE() << path << " has a cycle";
        } catch (const Error& error) {
            EXPECT_THAT(error.message(), testing::HasSubstr("in a circle")) << path;
            EXPECT_GT(error.where().line, 0) << path;
        }
    }
    EXPECT_EQ(cycles, 2U);
    // Counted with grep: elements <job> and <parent> of the file.
    const GraphFile montage = read_task_graph((data_ / "dax" / "Montage_25.xml").string());
    EXPECT_EQ(montage.graph.tasks(), 25U);
    EXPECT_EQ(montage.graph.edges(), 45U);
    EXPECT_THAT(montage.kernels, testing::Contains("mProjectPP"));
    // The four tasks of the dialects of SimGrid's example, root and end included in the first.
    EXPECT_EQ(read_task_graph((data_ / "dag" / "dag.dot").string()).graph.tasks(), 5U);
    const GraphFile json = read_task_graph((data_ / "dag" / "dag.json").string());
    EXPECT_EQ(json.graph.tasks(), 3U);
    EXPECT_EQ(json.graph.edges(), 2U);
    EXPECT_EQ(json.graph.predecessors(2)[0].bytes + json.graph.predecessors(2)[1].bytes, 5e8);
    // Both count flops, and the JSON form has the same tasks without root and end.
    const GraphFile dot = read_task_graph((data_ / "dag" / "dag.dot").string());
    EXPECT_EQ(json.unit, dot.unit);
    EXPECT_EQ(json.graph.total_work(), dot.graph.total_work());
}

TEST_F(RealGraphs, HeterogeneousInstancesAgreeAcrossTheirThreeFormats) {
    for (const fs::path& path : files("hetero", {".dag", ".txt"})) {
        const GraphFile file = read_task_graph(path.string());
        // NAME-processors-tasks...
        const std::string name = path.filename().string().substr(path.filename().string().find('-') + 1);
        EXPECT_EQ(file.costs.front().size(), std::stoul(name)) << path;
        EXPECT_EQ(file.graph.tasks(), std::stoul(name.substr(name.find('-') + 1))) << path;
    }
    const GraphFile text = read_task_graph((data_ / "hetero/Synthetic/Ilavarasan-3-10.txt").string());
    const GraphFile table =
        read_task_graph((data_ / "misc_dags/heft_mack/canonicalgraph_task_connectivity.csv").string());
    const GraphFile tgff = read_task_graph((data_ / "misc_dags/heft_oyld_tgff/input_0.tgff").string());
    EXPECT_EQ(text.costs, table.costs);
    EXPECT_EQ(text.costs, tgff.costs);
    for (TaskIndex task = 0; task < 10; ++task) {
        for (const GraphFile* other : {&table, &tgff}) {
            ASSERT_EQ(text.graph.successors(task).size(), other->graph.successors(task).size());
            for (std::size_t i = 0; i < text.graph.successors(task).size(); ++i) {
                EXPECT_EQ(text.graph.successors(task)[i].task, other->graph.successors(task)[i].task);
                EXPECT_EQ(text.graph.successors(task)[i].bytes, other->graph.successors(task)[i].bytes);
            }
        }
    }
    // A link ten times as fast: 90 becomes 9.
    EXPECT_EQ(read_task_graph((data_ / "misc_dags/heft_mack/randomgraph_task_connectivity.csv").string())
                  .graph.successors(0)[0]
                  .bytes,
              9);
    for (const fs::path& path : files("misc_dags", {".tgff", ".dot"})) {
        EXPECT_GT(read_task_graph(path.string()).graph.tasks(), 0U) << path;
    }
    // Kwok and Ahmad 1999: the critical path of the nine tasks with communication is 23 long.
    const auto nine = read_task_graph((data_ / "misc_dags/kwok_ahmad_9node.dot").string());
    EXPECT_EQ(nine.graph.critical_path(1).length, 23);
}

TEST_F(RealGraphs, MetisGraphsHaveTheCountsOfTheirFirstLine) {
    std::map<std::string, std::pair<DatumIndex, std::size_t>> known = {
        {"4elt.graph", {15606, 45878}}, {"test.mgraph", {766, 1314}}, {"3elt.graph", {4720, 13722}},
        {"add20.graph", {2395, 7462}},  {"uk.graph", {4824, 6837}},   {"whitaker3.graph", {9800, 28989}}};
    std::vector<fs::path> all = files("metis", {".graph", ".mgraph"});
    for (const fs::path& path : files("walshaw", {".graph"})) all.push_back(path);
    for (const fs::path& path : all) {
        const DataGraph graph = read_data_graph(path.string());
        const auto& [data, edges] = known.at(path.filename().string());
        EXPECT_EQ(graph.data(), data);
        EXPECT_EQ(graph.edges(), edges);
        known.erase(path.filename().string());
        EXPECT_THROW(read_task_graph(path.string()), Error);
    }
    EXPECT_TRUE(known.empty());
    EXPECT_EQ(read_data_graph((data_ / "metis/test.mgraph").string()).constraints(), 2U);
    EXPECT_EQ(read_data_graph((data_ / "metis/metis.mesh").string()).data(), 7434U);
}

TEST_F(RealGraphs, StarpusMeasuredKernelCostsAreReadByArchitectureAndSize) {
    // The lines of hash d46431bb of the file: CPU 3262.643 us, first GPU 201.1248 us.
    const std::string path = (data_ / "starpu_cholesky" / "chol_model_gemm.mirage").string();
    const KernelCost cpu = read_starpu_cost(path, 0, 1228800), gpu = read_starpu_cost(path, 1, 1228800);
    EXPECT_NEAR(cpu.mean_seconds, 3.262643e-3, 1e-12);
    EXPECT_NEAR(cpu.deviation_seconds, 7.810468e-5, 1e-12);
    EXPECT_NEAR(gpu.mean_seconds, 2.011248e-4, 1e-12);
    EXPECT_THROW(read_starpu_cost(path, 0, 1), Error);
    EXPECT_THROW(read_starpu_cost(path, 99, 1228800), Error);
}

TEST_F(RealGraphs, OurOwnFormatKeepsAllThatARealFileSays) {
    const std::string path =
        testing::TempDir() + "graph_files_external_" + std::to_string(::getpid()) + ".json";
    for (const char* name :
         {"wfcommons/montage-chameleon-2mass-01d-001.json", "hetero/Robot/robot-8-88-0.5-1.dag"}) {
        const GraphFile read = read_task_graph((data_ / name).string());
        write_graph(read, path);
        const GraphFile again = read_task_graph(path);
        EXPECT_EQ(again.costs, read.costs);
        EXPECT_EQ(again.kernel_of, read.kernel_of);
        EXPECT_EQ(again.kernels, read.kernels);
        EXPECT_EQ(again.unit, read.unit);
        ASSERT_EQ(again.graph.tasks(), read.graph.tasks());
        for (TaskIndex task = 0; task < read.graph.tasks(); ++task) {
            EXPECT_EQ(again.graph.flops(task), read.graph.flops(task));
            EXPECT_EQ(again.graph.name(task), read.graph.name(task));
            ASSERT_EQ(again.graph.successors(task).size(), read.graph.successors(task).size());
            for (std::size_t i = 0; i < read.graph.successors(task).size(); ++i) {
                EXPECT_EQ(again.graph.successors(task)[i].task, read.graph.successors(task)[i].task);
                EXPECT_EQ(again.graph.successors(task)[i].bytes, read.graph.successors(task)[i].bytes);
            }
        }
    }
    fs::remove(path);
}

}  // namespace
}  // namespace heddle::graphs
