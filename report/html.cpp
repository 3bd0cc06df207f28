// Prints tables as HTML, CSV and LaTeX.
#include "report/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/assert.hpp"
#include "base/csv_table.hpp"
#include "base/units.hpp"

namespace heddle::report {

namespace {

/// Rows that a page shows of one table; the files have them, too.
constexpr std::size_t page_rows_max = 1000;
/// Longer tables are folded.
constexpr std::size_t rows_open_max = 40;

/// A text as a data: link of the type, with every byte that may not be there in percent.
std::string data_link(const std::string& type, const std::string& text) {
    constexpr std::string_view plain = "-_.!~*'(),;:@+$/=";
    std::string link = fmt::format("data:{};charset=utf-8,", type);
    for (const char c : text) {
        const bool letter = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        if (letter || plain.find(c) != std::string_view::npos)
            link += c;
        else
            link += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return link;
}

std::string latex_text(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (std::string_view("&%$#_{}").find(c) != std::string_view::npos)
            out += std::string("\\") + c;
        else if (c == '\\')
            out += "\\textbackslash{}";
        else if (c == '~')
            out += "\\textasciitilde{}";
        else if (c == '^')
            out += "\\textasciicircum{}";
        else if (c == '<' || c == '>')
            out += c == '<' ? "\\textless{}" : "\\textgreater{}";
        else
            out += c == '\n' ? ' ' : c;
    }
    return out;
}

std::string with_entities(std::string_view text, std::string_view quote) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += quote;
                break;
            default:
                out += c;
        }
    }
    return out;
}

}  // namespace

std::string escaped(std::string_view text) {
    return with_entities(text, "&quot;");
}

std::string figure_label(std::string_view text) {
    return with_entities(text, "\"");
}

Value text_value(std::string text) {
    return {text, text, false};
}

Value number_value(std::string exact) {
    return {exact, exact, true};
}

Value seconds_value(double seconds) {
    return {show_seconds(seconds), exact_number(seconds), true};
}

Value decimal_value(double number, int decimals) {
    return {fmt::format("{:.{}f}", number, decimals), exact_number(number), true};
}

Value count_value(double number) {
    return decimal_value(number, number == std::floor(number) ? 0 : 1);
}

Value no_value() {
    return {"–", "", true};
}

std::string exact_number(double number) {
    return nlohmann::json(number).dump();
}

HtmlTable::HtmlTable(std::string name, std::string caption, std::vector<std::string> columns,
                     std::vector<std::string> fields)
    : name_(std::move(name)),
      caption_(std::move(caption)),
      columns_(std::move(columns)),
      fields_(std::move(fields)) {
    HEDDLE_ASSERT(columns_.size() == fields_.size());
}

std::string HtmlTable::csv() const {
    std::string text;
    const auto line = [&text](const auto& cells, auto what) {
        for (std::size_t i = 0; i < cells.size(); ++i) text += (i > 0 ? "," : "") + csv_cell(what(cells[i]));
        text += "\n";
    };
    line(fields_, [](const std::string& field) { return field; });
    for (const auto& row : rows_) line(row, [](const Value& value) { return value.exact; });
    return text;
}

std::string HtmlTable::latex() const {
    std::string text = "\\begin{tabular}{";
    for (std::size_t i = 0; i < columns_.size(); ++i)
        text += !rows_.empty() && rows_.front()[i].is_number ? "r" : "l";
    text += "}\n\\hline\n";
    const auto line = [&text](const auto& cells, auto what) {
        // At the begin of a line these would be an argument of the \\ before it.
        const std::string first = what(cells.front());
        if (first.starts_with('[') || first.starts_with('*')) text += "{}";
        for (std::size_t i = 0; i < cells.size(); ++i)
            text += (i > 0 ? " & " : "") + latex_text(what(cells[i]));
        text += " \\\\\n";
    };
    line(columns_, [](const std::string& title) { return title; });
    text += "\\hline\n";
    for (const auto& row : rows_) line(row, [](const Value& value) { return value.shown; });
    return text + "\\hline\n\\end{tabular}\n";
}

std::string HtmlTable::html() const {
    std::string text = fmt::format(
        "<div class=\"table\"><p class=\"caption\">{} <span class=\"links\"><a download=\"{}.csv\" "
        "href=\"{}\">CSV</a> "
        "<a download=\"{}.tex\" href=\"{}\">LaTeX</a></span></p>",
        escaped(caption_), escaped(name_), escaped(data_link("text/csv", csv())), escaped(name_),
        escaped(data_link("text/x-tex", latex())));
    const bool folded = rows_.size() > rows_open_max;
    if (folded) text += fmt::format("<details><summary>{} rows</summary>", rows_.size());
    text += fmt::format("<div class=\"scroll\" tabindex=\"0\"><table id=\"{}\"><thead><tr>", escaped(name_));
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const bool number = !rows_.empty() && rows_.front()[i].is_number;
        text += fmt::format("<th data-field=\"{}\"{}>{}</th>", escaped(fields_[i]),
                            number ? " class=\"n\"" : "", escaped(columns_[i]));
    }
    text += "</tr></thead><tbody>\n";
    for (std::size_t i = 0; i < std::min(rows_.size(), page_rows_max); ++i) {
        text += "<tr>";
        for (const Value& value : rows_[i]) {
            text += value.is_number ? "<td class=\"n\"" : "<td";
            if (value.exact != value.shown) text += fmt::format(" data-exact=\"{}\"", escaped(value.exact));
            text += fmt::format(">{}</td>", escaped(value.shown));
        }
        text += "</tr>\n";
    }
    text += "</tbody></table></div>";
    if (rows_.size() > page_rows_max)
        text +=
            fmt::format("<p class=\"note\">The page shows the first {} of {} rows; the files have all.</p>",
                        page_rows_max, rows_.size());
    return text + (folded ? "</details></div>\n" : "</div>\n");
}

}  // namespace heddle::report
