// Puts the page together: style, sections, the figures as JSON, plotly.js and the script that draws.
#include "report/page.hpp"

#include <fmt/format.h>

#include <cmath>
#include "report/assets.hpp"

namespace heddle::report {

const std::vector<std::string> line_colours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                               "#E69F00", "#56B4E9", "#000000", "#8A8A8A"};

Json log_ticks(double least, double most) {
    const double decades = std::log10(most / least);
    if (decades > 4) return std::ceil(decades / 4);
    if (decades > 1.5) return 1;
    return "D2";  // 1, 2 and 5 times powers of ten
}

std::string state_colour(const std::string& state) {
    if (state == "working") return "#0072B2";
    if (state == "overhead") return "#E69F00";
    if (state == "stealing") return "#D55E00";
    if (state == "waiting") return "#8CC8EE";
    return "#D9D9D9";
}

namespace {

/// JSON within <script>: no text may end the element.
std::string json_for_script(const Json& json) {
    std::string out;
    for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace)) {
        if (c == '<')
            out += "\\u003c";
        else
            out += c;
    }
    return out;
}

}  // namespace

void Page::section(const std::string& id, const std::string& title) {
    sections_.emplace_back(id, title);
    body_ += fmt::format("<h2 id=\"{}\">{}</h2>\n", escaped(id), escaped(title));
}

void Page::paragraph(const std::string& html) {
    body_ += fmt::format("<p>{}</p>\n", html);
}

void Page::subtitle(const std::string& text) {
    body_ += fmt::format("<h3>{}</h3>\n", escaped(text));
}

void Page::list(const std::vector<std::string>& items_html) {
    body_ += "<ul>\n";
    for (const std::string& item : items_html) body_ += fmt::format("<li>{}</li>\n", item);
    body_ += "</ul>\n";
}

void Page::table(const HtmlTable& table) {
    body_ += table.html();
}

void Page::figure(const Figure& figure) {
    body_ += fmt::format(
        "<figure><div class=\"plot\" id=\"{}\" "
        "style=\"min-height:{}px\"></div><figcaption>{}</figcaption></figure>\n",
        escaped(figure.id), figure.height, escaped(figure.caption));
    figures_.push_back(
        {{"id", figure.id}, {"height", figure.height}, {"traces", figure.traces}, {"layout", figure.layout}});
}

std::string Page::html(const std::string& title, const std::string& summary) const {
    const std::string_view plotly = plotly_js_gz_base64();
    std::string contents;
    for (const auto& [id, name] : sections_)
        contents += fmt::format("<a href=\"#{}\">{}</a>\n", escaped(id), escaped(name));
    std::string page = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        // The page needs no network, and the browser is told so.
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
        "'unsafe-inline'; "
        "style-src 'unsafe-inline'; img-src data: blob:\">\n"
        "<link rel=\"icon\" "
        "href=\"data:,\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n"
        "<header><h1>{}</h1>\n<div class=\"summary\">{}</div>\n<nav>{}</nav></header>\n",
        escaped(title), page_css(), escaped(title), summary, contents);
    page += body_;
    page += fmt::format("<p class=\"note\" id=\"undrawn\">{}</p>\n",
                        plotly.empty()
                            ? "This heddle was built without plotly.js, so the page has no figures; its "
                              "tables have their numbers."
                            : "The figures are drawn by a script; the tables have their numbers.");
    page += "</main>\n<script type=\"application/json\" id=\"figures\">" + json_for_script(figures_) +
            "</script>\n<script type=\"text/plain\" id=\"plotly\">";
    page += plotly;
    page += "</script>\n<script>\n";
    page += page_js();
    return page + "</script>\n</body>\n</html>\n";
}

}  // namespace heddle::report
