// Creates a directory of results, writes the files of a cell, and puts its rows into the tables.
#include "results/store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/csv_table.hpp"
#include "base/output_file.hpp"
#include "results/data_package.hpp"

namespace heddle::results {

namespace {

namespace fs = std::filesystem;

constexpr std::array recorded_tables = {"tasks.csv", "workers.csv", "timeline.csv"};

/// The ending of a table that was compressed later: a run writes plain ones.
constexpr const char* compressed = ".gz";

[[noreturn]] void cannot_write(const std::string& path, int reason) {
    throw Error(fmt::format("results cannot be written to {} ({})", path, std::strerror(reason)),
                "choose another directory with --out, or make this one writable");
}

/// An open file; closed with the object.
class File {
public:
    File(const std::string& path, int flags)
        : path_(path), descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
        if (descriptor_ < 0) cannot_write(path, errno);
    }
    ~File() { ::close(descriptor_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    void lock() const {
        while (::flock(descriptor_, LOCK_EX) != 0) {
            if (errno != EINTR) cannot_write(path_, errno);
        }
    }

private:
    std::string path_;
    int descriptor_;
};

CsvTable read_table(const std::string& path) {
    try {
        CsvTable table = CsvTable::parse(read_stored(path));
        if (!table.columns().empty() && table.columns().front() != "cell") {
            throw Error("the first column is not `cell`",
                        "the table was not written by heddle; move it away");
        }
        return table;
    } catch (const Error& error) {
        throw error.at({path, 0});
    }
}

void put_row(const std::string& path, const Row& row) {
    CsvTable table = read_table(path);
    table.put(row);
    write_atomically(path, table.csv());
}

void make_directory(const std::string& path) {
    std::error_code problem;
    fs::create_directories(path, problem);
    if (problem) cannot_write(path, problem.value());
}

}  // namespace

void write_atomically(const std::string& path, const std::string& text) {
    write_file(path, text, OutputFile::Durable::yes,
               {"results", "choose another directory with --out, or make this one writable"});
}

std::string read_stored(const std::string& path, const InputLimits& limits) {
    std::error_code ignored;
    const fs::file_status status = fs::status(path, ignored);
    if (status.type() == fs::file_type::not_found) return {};
    if (fs::is_directory(status))
        throw Error(fmt::format("{} is a directory, and a file belongs there", path),
                    "remove it, or choose another directory with --out");
    // A pipe without a writer would block the reader.
    if (fs::exists(status) && !fs::is_regular_file(status))
        throw Error("is not a regular file", "remove it, or choose another directory with --out", {path, 0});
    return read_input(path, limits);
}

std::string recorded_table(const std::string& folder, const std::string& table) {
    for (const char* ending : {"", compressed}) {
        const std::string path = fmt::format("{}/{}{}", folder, table, ending);
        if (std::error_code ignored; fs::is_regular_file(path, ignored)) return path;
    }
    return {};
}

Store::Store(std::string directory, Tables tables) : directory_(std::move(directory)), tables_(tables) {
    make_directory(directory_);
    // Asked, not tried: a file made to find out stays behind if the process is killed at that moment.
    if (::access(directory_.c_str(), W_OK | X_OK) != 0) cannot_write(directory_, errno);
    if (tables_ == Tables::leave) return;
    read_table(directory_ + "/runs.csv");
    read_table(directory_ + "/timings.csv");
}

std::string Store::path_of(const Record& record) const {
    return directory_ + "/" + record.determinants.cell();
}

std::string Store::make_cell(const configs::Determinants& determinants) const {
    std::string cell = directory_ + "/" + determinants.cell();
    make_directory(cell);
    return cell;
}

void Store::write(const Record& record, Recorded recorded) const {
    const std::string cell = make_cell(record.determinants);
    for (const char* table : recorded_tables) {
        std::error_code ignored;
        if (recorded == Recorded::no) fs::remove(cell + "/" + table, ignored);
        fs::remove(cell + "/" + table + compressed, ignored);
    }
    write_atomically(cell + "/steals.csv", steals_csv(record));
    write_data_package(cell);
    write_atomically(cell + "/timing.json", timing_json(record));
    write_atomically(cell + "/result.json", result_json(record));

    if (tables_ == Tables::leave) return;
    // Read, change, rename: one process at a time.
    const File lock(directory_ + "/.lock", O_RDWR | O_CREAT);
    lock.lock();
    put_row(directory_ + "/runs.csv", run_row(record));
    put_row(directory_ + "/timings.csv", timing_row(record));
    write_data_package(directory_);
}

}  // namespace heddle::results
