// `heddle report`: makes one HTML page of directories of results.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>
#include <memory>

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

int make_report(const ReportOptions& options) {
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
