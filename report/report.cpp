// Makes the report: reads the runs, evaluates them, and lets each section add itself to the page.
#include "report/report.hpp"

#include <algorithm>

#include "report/sections.hpp"
#include "report/words.hpp"

namespace heddle::report {

namespace {

std::string title_of(const Runs& runs) {
    std::vector<std::string> names;
    for (const Run& run : runs.all) {
        const std::string& name = run.value("name");
        if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(name);
    }
    return names.empty() ? "Results of heddle" : list_in_words(names, 6);
}

}  // namespace

std::string report_html(const std::vector<std::string>& directories, const Options& options) {
    const Runs runs = read_runs(directories);
    const Design design = design_of(runs, options.by);
    const Findings findings = runs.all.empty() ? Findings{} : find_out(runs, design, options.by);
    const Subject subject{runs, design, findings};
    Page page;
    add_comparison(page, subject);
    add_curves(page, subject);
    add_heat_maps(page, subject);
    add_states(page, subject);
    add_steals(page, subject);
    add_granularity(page, subject);
    add_worlds(page, subject);
    add_recorded_run(page, subject);
    add_overview(page, subject);
    return page.html(options.title.empty() ? title_of(runs) : options.title, summary_of(subject));
}

}  // namespace heddle::report
