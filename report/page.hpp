// The report's page while it is built: sections with texts, tables and figures. It is written as one HTML
// file.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/html.hpp"

namespace heddle::report {

using Json = nlohmann::ordered_json;

/// A figure that page.js draws with plotly.js. Texts in `traces` and `layout` are figure_label's.
struct Figure {
    std::string id;
    std::string caption;  ///< a sentence: what it shows, and how to read it
    Json traces = Json::array();
    Json layout = Json::object();
    int height = 380;  ///< pixels
};

class Page {
public:
    void section(const std::string& id, const std::string& title);
    /// A paragraph. `html` is HTML; texts of others must be escaped.
    void paragraph(const std::string& html);
    void subtitle(const std::string& text);
    void list(const std::vector<std::string>& items_html);
    void table(const HtmlTable& table);
    void figure(const Figure& figure);

    /// The whole file. `summary`: HTML of the first sentences.
    std::string html(const std::string& title, const std::string& summary) const;

private:
    std::string body_;
    std::vector<std::pair<std::string, std::string>> sections_;
    Json figures_ = Json::array();
};

/// Colours that people with any colour vision tell apart (Okabe and Ito, "Color universal design", 2008).
extern const std::vector<std::string> line_colours;

/// plotly's `dtick` for a logarithmic axis over values from `least` to `most`, both positive: few enough
/// labels that they do not overlap where the page is narrow.
Json log_ticks(double least, double most);

/// The colour of a worker's state.
std::string state_colour(const std::string& state);

}  // namespace heddle::report
