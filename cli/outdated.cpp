// Compares what determines a plan's cells with what determined other results of the same configurations.
#include "cli/outdated.hpp"

#include <fmt/format.h>

#include <iostream>
#include <set>
#include <utility>

#include "base/printable.hpp"
#include "cli/text_table.hpp"

namespace heddle::cli {

std::vector<results::Outcome> read_outcomes(const std::vector<Cell>& cells, const std::string& directory) {
    std::vector<results::Outcome> outcomes;
    outcomes.reserve(cells.size());
    for (const Cell& cell : cells) outcomes.push_back(results::read_outcome(directory, cell.name));
    return outcomes;
}

std::string Outdated::others_in_words() const {
    if (others == 0) return {};
    return fmt::format(
        "{} there of other configurations: values in the experiment, or in a file that it "
        "takes them from, were others",
        others == 1 ? "1 result is" : grouped(others) + " results are");
}

Outdated outdated_results(const std::vector<Cell>& cells, const std::string& directory,
                          const std::vector<results::Outcome>& outcomes) {
    Outdated outdated;
    std::size_t others = 0;
    std::map<std::string, std::vector<configs::Determinants>> earlier;
    std::set<std::string> planned;
    std::vector<std::string> names;
    for (const Cell& cell : cells) {
        planned.insert(cell.determinants.configuration);
        names.push_back(cell.name);
    }
    for (results::OtherResult& other : results::other_results(directory, names)) {
        const std::string& configuration = other.determinants.configuration;
        if (!planned.contains(configuration)) {
            ++others;
            continue;
        }
        earlier[configuration].push_back(std::move(other.determinants));
    }
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (outcomes[i].state != results::Outcome::State::missing) continue;
        const configs::Determinants& wanted = cells[i].determinants;
        const auto found = earlier.find(wanted.configuration);
        if (found == earlier.end()) {
            outdated.others = others;
            continue;
        }
        // Of several, the one that differs least explains best.
        std::string least;
        for (const configs::Determinants& before : found->second) {
            std::string change = configs::changed(before, wanted);
            if (least.empty() || change.size() < least.size()) least = std::move(change);
        }
        ++outdated.by_change[least];
    }
    return outdated;
}

void name_outdated(const Outdated& outdated) {
    for (const auto& [change, cells] : outdated.by_change)
        std::cerr << fmt::format(
            "heddle: {} cells have an earlier result only ({}); without --show they are run again\n",
            grouped(cells), printable(change));
    if (outdated.others > 0) std::cerr << "heddle: " << outdated.others_in_words() << "\n";
}

}  // namespace heddle::cli
