// A table in memory, to be written as a CSV file (RFC 4180). It has named columns; the first identifies a
// row.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace heddle {

/// A value as a cell, in quotes if it needs them.
std::string csv_cell(const std::string& value);

class CsvTable {
public:
    /// Reads a table; an empty text is an empty one. Throws Error where a row is longer than the header.
    static CsvTable parse(const std::string& text);

    /// A table of these rows, in their order. Columns come in the order in which rows first name them.
    static CsvTable of(const std::vector<std::vector<std::pair<std::string, std::string>>>& rows);

    /// Adds a row of names and values, in the place of the row with the same first value. Columns that are
    /// new come last and are empty in the other rows. The first name must be the table's first column.
    void put(const std::vector<std::pair<std::string, std::string>>& row);

    std::string csv() const;

    const std::vector<std::string>& columns() const { return columns_; }
    const std::vector<std::vector<std::string>>& rows() const { return rows_; }

private:
    std::vector<std::string> columns_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace heddle
