// Parses and prints CSV with quotes, and replaces the rows of a table by their first column.
#include "base/csv_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "base/assert.hpp"
#include "base/error.hpp"
#include "base/input_file.hpp"

namespace heddle {

namespace {

using Line = std::vector<std::string>;

std::vector<Line> lines_of(std::string_view text) {
    text = without_byte_order_mark(text);
    std::vector<Line> lines;
    Line line(1);
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted) {
            if (c != '"') {
                line.back() += c;
            } else if (i + 1 < text.size() && text[i + 1] == '"') {
                line.back() += text[++i];
            } else {
                quoted = false;
            }
        } else if (c == '"') {
            quoted = true;
        } else if (c == ',') {
            line.emplace_back();
        } else if (c == '\n') {
            lines.push_back(std::move(line));
            line.assign(1, {});
        } else if (c != '\r') {
            line.back() += c;
        }
    }
    if (line.size() > 1 || !line.front().empty()) lines.push_back(std::move(line));
    return lines;
}

void write(const Line& line, std::string& out) {
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (i > 0) out += ',';
        out += csv_cell(line[i]);
    }
    out += '\n';
}

}  // namespace

std::string csv_cell(const std::string& value) {
    if (value.find_first_of(",\"\n\r") == std::string::npos) return value;
    std::string cell = "\"";
    for (const char c : value) {
        if (c == '"') cell += '"';
        cell += c;
    }
    return cell + '"';
}

CsvTable CsvTable::parse(const std::string& text) {
    std::vector<Line> lines = lines_of(text);
    CsvTable table;
    if (lines.empty()) return table;
    table.columns_ = std::move(lines.front());
    for (std::size_t i = 1; i < lines.size(); ++i) {
        if (lines[i].size() > table.columns_.size()) {
            throw Error(
                fmt::format("row {} has {} values, the header {}", i, lines[i].size(), table.columns_.size()),
                "the table was not written by heddle; move it away");
        }
        lines[i].resize(table.columns_.size());
        table.rows_.push_back(std::move(lines[i]));
    }
    return table;
}

CsvTable CsvTable::of(const std::vector<std::vector<std::pair<std::string, std::string>>>& rows) {
    CsvTable table;
    std::map<std::string, std::size_t> places;
    for (const auto& row : rows) {
        for (const auto& [name, value] : row) {
            if (places.try_emplace(name, table.columns_.size()).second) table.columns_.push_back(name);
        }
    }
    for (const auto& row : rows) {
        Line line(table.columns_.size());
        for (const auto& [name, value] : row) line[places.at(name)] = value;
        table.rows_.push_back(std::move(line));
    }
    return table;
}

void CsvTable::put(const std::vector<std::pair<std::string, std::string>>& row) {
    HEDDLE_ASSERT(!row.empty());
    for (const auto& [name, value] : row) {
        if (std::find(columns_.begin(), columns_.end(), name) != columns_.end()) continue;
        columns_.push_back(name);
        for (Line& line : rows_) line.emplace_back();
    }
    Line line(columns_.size());
    for (const auto& [name, value] : row) {
        const auto column = std::find(columns_.begin(), columns_.end(), name) - columns_.begin();
        line[static_cast<std::size_t>(column)] = value;
    }
    const auto same =
        std::find_if(rows_.begin(), rows_.end(), [&line](const Line& other) { return other[0] == line[0]; });
    if (same == rows_.end()) {
        rows_.push_back(std::move(line));
    } else {
        *same = std::move(line);
    }
}

std::string CsvTable::csv() const {
    std::string out;
    write(columns_, out);
    for (const Line& line : rows_) write(line, out);
    return out;
}

}  // namespace heddle
