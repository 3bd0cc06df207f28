// A fuzz target for tables and results: placements, costs of kernels, and what a comparison has left in a
// directory. The first byte of an input chooses which file the rest is.
#include <array>
#include <filesystem>
#include <fstream>

#include "graphs/kernel_costs.hpp"
#include "partitioners/placement_file.hpp"
#include "report/recorded.hpp"
#include "report/runs.hpp"
#include "results/cells.hpp"
#include "tests/fuzz/input_file.hpp"
#include "tests/fuzz/target.hpp"

namespace {

using namespace heddle;
namespace fs = std::filesystem;

/// a -> b -> d, a -> c -> d
TaskGraph diamond() {
    TaskGraphBuilder builder;
    for (const char* name : {"a", "b", "c", "d"}) builder.add_task(1, name);
    for (const auto& [from, to] : {std::pair{0U, 1U}, {0U, 2U}, {1U, 3U}, {2U, 3U}})
        builder.add_edge(from, to, 1);
    return builder.build();
}

/// A directory of results in memory, of this process.
class Directory {
public:
    Directory() : path_("/dev/shm/heddle_fuzz_" + std::to_string(getpid())) {
        fs::create_directories(path_ / cell);
    }
    ~Directory() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;

    /// Its only file, until the object is gone.
    class File {
    public:
        File(const fs::path& path, std::string_view text) : path_(path) {
            std::ofstream(path_, std::ios::binary) << text;
        }
        ~File() {
            std::error_code ignored;
            fs::remove(path_, ignored);
        }
        File(const File&) = delete;
        File& operator=(const File&) = delete;

    private:
        fs::path path_;
    };

    /// A name without a folder is a file of the cell.
    File put(const std::string& name, std::string_view text) const { return {path_ / cell / name, text}; }
    File put_table(std::string_view text) const { return {path_ / "runs.csv", text}; }
    std::string path() const { return path_; }

    static constexpr const char* cell = "c";

private:
    fs::path path_;
};

const Directory& directory() {
    static const Directory made;
    return made;
}

void read_directory() {
    (void)results::read_outcome(directory().path(), Directory::cell);
    (void)results::other_results(directory().path(), {});
    for (const report::Run& run : report::read_runs({directory().path()}).all) (void)report::is_recorded(run);
}

/// A table that a run recorded, beside two sound ones.
void read_tables(const std::string& which, const std::string& text) {
    const auto text_or = [&](const char* name, const char* sound) {
        return directory().put(name, which == name ? std::string_view(text) : sound);
    };
    const auto workers =
        text_or("workers.csv",
                "node,worker,tasks,working_seconds,overhead_seconds,stealing_seconds,"
                "waiting_seconds,idle_seconds\n0,0,1,2.0,0.0,0.0,0.0,0.0\n1,0,1,1.0,0.0,0.0,0.0,1.0\n");
    const auto timeline = text_or("timeline.csv",
                                  "node,worker,state,start_seconds,end_seconds\n"
                                  "0,0,working,0.0,2.0\n1,0,idle,0.0,1.0\n1,0,working,1.0,2.0\n");
    const auto tasks = text_or("tasks.csv",
                               "task,node,worker,ready_seconds,start_seconds,end_seconds,predecessors\n"
                               "0,0,0,0.0,0.0,1.0,\n1,1,0,1.0,1.0,2.0,0\n");
    const report::Run run{directory().path(), Directory::cell, {}, {}, {}, {}, {}, {}};
    (void)report::read_recorded(run);
}

void read_as(const char* name, const std::string& text) {
    const auto file = directory().put(name, text);
    read_directory();
}

using Read = void (*)(const std::string&);

constexpr std::array<Read, 9> readers = {
    [](const std::string& text) {
        static const TaskGraph graph = diamond();
        (void)partitioners::read_placement(fuzz::InputFile(text).path(), graph, {2, 2});
    },
    [](const std::string& text) { (void)graphs::read_kernel_costs(fuzz::InputFile(text).path()); },
    [](const std::string& text) { (void)graphs::read_starpu_cost(fuzz::InputFile(text).path(), 0, 1024); },
    [](const std::string& text) { read_as("result.json", text); },
    [](const std::string& text) { read_as("failure.json", text); },
    [](const std::string& text) {
        const auto table = directory().put_table(text);
        read_directory();
    },
    [](const std::string& text) { read_tables("workers.csv", text); },
    [](const std::string& text) { read_tables("timeline.csv", text); },
    [](const std::string& text) { read_tables("tasks.csv", text); }};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::read_by_one_of(readers, data, size);
}
