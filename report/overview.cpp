// Writes the report's section of what was run: programs, keys with their values, versions, hosts, failures.
#include <fmt/format.h>

#include <set>

#include "report/sections.hpp"
#include "report/words.hpp"

namespace heddle::report {

namespace {

std::vector<std::string> distinct(const Runs& runs, std::string (*of)(const Run&)) {
    std::vector<std::string> found;
    std::set<std::string> seen;
    for (const Run& run : runs.all) {
        std::string text = of(run);
        if (!text.empty() && seen.insert(text).second) found.push_back(std::move(text));
    }
    return found;
}

std::string versions_of(const Run& run) {
    std::string text;
    for (const char* name : {"heddle", "simgrid", "compiler", "metis", "scotch", "openblas", "mpi"}) {
        const auto version = run.versions.find(name);
        if (version == run.versions.end() || version->second.empty()) continue;
        const bool names_itself = std::string_view(name) == "compiler" || std::string_view(name) == "mpi";
        text += fmt::format("{}{}{}", text.empty() ? "" : ", ", names_itself ? "" : std::string(name) + " ",
                            version->second);
    }
    return text;
}

void add_factors(Page& page, const Design& design) {
    if (design.factors.empty()) return;
    HtmlTable table("varied", "What varied. Runs that differ in nothing but the seed are one combination.",
                    {"key", "values", "goes with it"}, {"key", "values", "goes_with"});
    for (const Factor& factor : design.factors) {
        std::vector<std::string> values;
        for (const std::string& value : factor.values) values.push_back(factor.shown(value));
        table.add({text_value(factor.key), text_value(list_in_words(values)),
                   text_value(list_in_words(factor.goes_with, 6))});
    }
    page.table(table);
}

void add_failures(Page& page, const Runs& runs) {
    constexpr std::size_t shown_max = 50;
    std::size_t wrong = 0;
    HtmlTable table("failures", "Runs that failed, and the command that runs each again.",
                    {"run", "what it said", "command"}, {"cell", "error", "command"});
    for (const Run& run : runs.all) {
        if (run.ok()) continue;
        ++wrong;
        if (table.rows() < shown_max)
            table.add({text_value(run.cell), text_value("wrong answer: " + run.check), text_value("")});
    }
    for (const FailedRun& failed : runs.failed) {
        if (table.rows() < shown_max)
            table.add({text_value(failed.cell), text_value(failed.failure.error),
                       text_value(failed.failure.command)});
    }
    const std::size_t all = wrong + runs.failed.size();
    if (all == 0) {
        if (!runs.all.empty())
            page.paragraph("No run failed, and every answer that could be checked is right.");
        return;
    }
    page.paragraph(
        fmt::format("<span class=\"bad\">{} failed or gave a wrong answer.</span> Medians are over the "
                    "other runs.{}",
                    counted_things(all, "run"),
                    all > shown_max ? fmt::format(" The table has the first {}.", shown_max) : ""));
    page.table(table);
}

}  // namespace

void add_overview(Page& page, const Subject& subject) {
    const Runs& runs = subject.runs;
    page.section("runs", "What was run");
    for (const std::string& remark : runs.remarks) page.paragraph(escaped(remark));
    if (!runs.all.empty()) {
        std::vector<std::string> facts;
        facts.push_back(fmt::format("{} of {}.", counted_things(runs.all.size(), "finished run"),
                                    counted_things(subject.design.combinations.size(), "combination")));
        std::string common;
        for (const auto& [key, value] : subject.design.common)
            common +=
                fmt::format("{}<code>{}</code> {}", common.empty() ? "" : ", ", escaped(key), escaped(value));
        if (!common.empty()) facts.push_back("Equal in all runs: " + common + ".");
        std::vector<std::string> versions = distinct(runs, versions_of);
        if (!versions.empty())
            facts.push_back(
                fmt::format("{}: {}.{}", versions.size() == 1 ? "Version" : "Versions",
                            escaped(list_in_words(versions, 5)),
                            versions.size() == 1 ? "" : " The runs come from different programs."));
        const auto hosts = distinct(runs, [](const Run& run) { return run.host; });
        if (!hosts.empty()) facts.push_back("Ran on: " + escaped(list_in_words(hosts)) + ".");
        const auto checks =
            distinct(runs, [](const Run& run) { return run.ok() ? run.check : std::string(); });
        if (!checks.empty())
            facts.push_back("Answers were checked against: " + escaped(list_in_words(checks, 6)) + ".");
        page.list(facts);
    }
    add_factors(page, subject.design);
    add_failures(page, runs);
    std::set<std::string> warnings;
    for (const Run& run : runs.all) warnings.insert(run.warnings.begin(), run.warnings.end());
    for (const std::string& warning : warnings) page.paragraph("Warning: " + escaped(warning));
}

}  // namespace heddle::report
