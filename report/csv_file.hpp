// Reads a CSV file row by row, compressed or not, so that a table may be larger than the memory.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

struct gzFile_s;

namespace heddle::report {

class CsvFile {
public:
    /// Reads the header. Throws Error if the file cannot be opened, or as next() does.
    explicit CsvFile(const std::string& path);
    ~CsvFile();

    /// False at the end. A row that is short counts as having empty values. Throws Error if the file cannot
    /// be read to its end: a compressed one may be cut off.
    bool next();

    /// The place of a column; beyond the last one if there is none, whose values are empty.
    std::size_t column(const std::string& name) const;
    const std::string& operator[](std::size_t column) const;

private:
    struct Close {
        void operator()(gzFile_s* file) const;
    };

    int get();
    bool read_row(std::vector<std::string>& row);

    std::string path_;
    std::unique_ptr<gzFile_s, Close> file_;
    std::string block_;
    std::size_t at_ = 0;
    std::vector<std::string> columns_;
    std::vector<std::string> row_;
};

}  // namespace heddle::report
