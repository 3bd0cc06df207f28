// `heddle report`: makes one HTML page of directories of results.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "base/output_file.hpp"
#include "base/units.hpp"
#include "cli/verbs.hpp"
#include "report/report.hpp"

namespace heddle::cli {

namespace {

struct ReportOptions {
    std::vector<std::string> directories;
    std::string out;
    report::Options page;
};

/// Whether it is HTML, such as an earlier page.
bool is_page(const std::filesystem::path& file) {
    std::string line;
    std::ifstream stream(file);
    return std::getline(stream, line) && line == "<!DOCTYPE html>";
}

/// Throws Error if the page would replace a file of the results.
void refuse_result_as_out(const std::string& out, const std::vector<std::string>& directories) {
    namespace fs = std::filesystem;
    std::error_code none;  // a name without a file replaces nothing
    const fs::path file = fs::canonical(out, none);
    if (none || !fs::is_regular_file(file, none) || is_page(file)) return;
    for (const std::string& directory : directories) {
        const fs::path within = file.lexically_relative(fs::canonical(directory, none));
        if (!none && !within.empty() && *within.begin() != "..")
            throw Error(fmt::format("--out {} is a file of the results in {}", out, directory),
                        "name another file for the page");
    }
}

int make_report(const ReportOptions& options) {
    refuse_result_as_out(options.out, options.directories);
    const std::string html = report::report_html(options.directories, options.page);
    write_file(options.out, html, OutputFile::Durable::no,
               {"the page", "name another file with --out, or make its folder writable"});
    std::cout << fmt::format("{}: {}\n", options.out, show_bytes(static_cast<double>(html.size())));
    return success;
}

}  // namespace

void add_report(CLI::App& app, Action& action) {
    const auto options = std::make_shared<ReportOptions>();
    CLI::App* verb = app.add_subcommand("report", "make one HTML page of results");
    verb->add_option("DIR", options->directories, "directories that `run --out` or `compare` has written")
        ->required();
    verb->add_option("--out", options->out, "the page")->type_name("FILE")->required();
    verb->add_option("--title", options->page.title, "its title; the names of the runs")->type_name("TEXT");
    verb->add_option("--by", options->page.by,
                     "group by this key, as often as you like; all that is not of the schedule")
        ->type_name("KEY")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    verb->callback([options, &action] { action = [options] { return make_report(*options); }; });
}

}  // namespace heddle::cli
