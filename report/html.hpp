// Writes text and tables as HTML: escapes characters, and adds links to each table's CSV and LaTeX. Knows
// nothing of runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle::report {

/// Every character that could end a text or an attribute is replaced.
std::string escaped(std::string_view text);

/// The same for labels in figures: plotly.js reads a few tags and entities in them.
std::string figure_label(std::string_view text);

/// A value of a table: as people read it, and as the CSV file has it.
struct Value {
    std::string shown;
    std::string exact;
    bool is_number = false;
};

Value text_value(std::string text);
/// `exact` as both, right-aligned: counts.
Value number_value(std::string exact);
/// Seconds, shown with a unit that suits.
Value seconds_value(double seconds);
/// Shown with so many decimals.
Value decimal_value(double number, int decimals);
/// A median of whole numbers, which may lie halfway between two.
Value count_value(double number);
/// A dash, and an empty field in the CSV file.
Value no_value();

/// The shortest text that reads back as the same number, as the tables of results have it.
std::string exact_number(double number);

class HtmlTable {
public:
    /// `name`: of the files that its links offer. `columns`: one title each; those of the files are `fields`.
    HtmlTable(std::string name, std::string caption, std::vector<std::string> columns,
              std::vector<std::string> fields);

    void add(std::vector<Value> row) { rows_.push_back(std::move(row)); }
    std::size_t rows() const { return rows_.size(); }

    std::string html() const;
    std::string csv() const;
    std::string latex() const;

private:
    std::string name_;
    std::string caption_;
    std::vector<std::string> columns_;
    std::vector<std::string> fields_;
    std::vector<std::vector<Value>> rows_;
};

}  // namespace heddle::report
