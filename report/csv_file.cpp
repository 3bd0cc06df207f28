// Splits a stream of bytes at commas and line ends that are not in quotes (RFC 4180).
#include "report/csv_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "base/error.hpp"

namespace heddle::report {

void CsvFile::Close::operator()(gzFile_s* file) const {
    gzclose(file);
}

CsvFile::CsvFile(const std::string& path) : path_(path), file_(gzopen(path.c_str(), "rb")) {
    if (!file_) throw Error(fmt::format("{} cannot be read", path), "make it readable, or move it away");
    read_row(columns_);
}

CsvFile::~CsvFile() = default;

int CsvFile::get() {
    if (at_ == block_.size()) {
        constexpr std::size_t block_bytes = 1 << 16;
        block_.resize(block_bytes);
        const int read = gzread(file_.get(), block_.data(), static_cast<unsigned>(block_bytes));
        int problem = Z_OK;
        gzerror(file_.get(), &problem);
        if (read < 0 || (problem != Z_OK && problem != Z_STREAM_END))
            throw Error(fmt::format("{} is cut off or damaged", path_),
                        "run it again with --record, or remove the file");
        block_.resize(static_cast<std::size_t>(read));
        at_ = 0;
        if (block_.empty()) return -1;
    }
    return static_cast<unsigned char>(block_[at_++]);
}

bool CsvFile::read_row(std::vector<std::string>& row) {
    std::size_t cells = 0;
    const auto begin_cell = [&row, &cells]() -> std::string& {
        if (cells == row.size()) row.emplace_back();
        std::string& cell = row[cells++];
        cell.clear();
        return cell;
    };
    std::string* cell = &begin_cell();
    bool quoted = false;
    bool closed = false;  // the quotes were closed by the character before
    bool any = false;
    for (int c = get(); c >= 0; c = get()) {
        any = true;
        if (c == '"') {
            if (closed) *cell += '"';  // doubled, it is a quote within quotes, which go on
            closed = quoted;
            quoted = !quoted;
            continue;
        }
        closed = false;
        if (c == ',' && !quoted) {
            cell = &begin_cell();
        } else if (c == '\n' && !quoted) {
            break;
        } else if (c != '\r' || quoted) {
            *cell += static_cast<char>(c);
        }
    }
    row.resize(any ? cells : 0);
    return any;
}

bool CsvFile::next() {
    return read_row(row_);
}

std::size_t CsvFile::column(const std::string& name) const {
    return static_cast<std::size_t>(std::find(columns_.begin(), columns_.end(), name) - columns_.begin());
}

const std::string& CsvFile::operator[](std::size_t column) const {
    static const std::string nothing;
    return column < row_.size() ? row_[column] : nothing;
}

}  // namespace heddle::report
