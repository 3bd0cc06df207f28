// Lists the cells of a comparison (one: a configuration and a seed), with the command line that runs each.
#include "cli/comparison_plan.hpp"

#include <fmt/format.h>

#include <map>

#include "cli/worlds.hpp"

namespace heddle::cli {

namespace {

using configs::Backend;
using configs::Combination;
using configs::Experiment;

/// The command that runs one cell: what people would type.
std::vector<std::string> words_of(const std::string& file, const std::vector<configs::Override>& overrides,
                                  const Combination& combination, std::uint64_t seed) {
    const Experiment& experiment = combination.experiment;
    std::vector<std::string> words;
    if (experiment.backend == Backend::native && experiment.platform.nodes > 1 && !by_mpi(experiment))
        words = {"launch", "-n", std::to_string(experiment.platform.nodes), "--", "heddle"};
    words.insert(words.end(), {"run", file});
    const auto set = [&words](const std::string& key, const std::string& value) {
        words.insert(words.end(), {"--set", fmt::format("{}={}", key, value)});
    };
    for (const configs::Override& given : overrides) {
        if (given.key != "seed" && given.key != "repeat") set(given.key, given.value);
    }
    for (const configs::Override& given : combination.assignment) {
        if (given.key == "seed" || given.key == "repeat") continue;
        // A path of the file is relative to that file; on the command line to the working directory.
        set(given.key, configs::path_shown(experiment, given.key, given.value));
    }
    words.insert(words.end(), {"--seed", std::to_string(seed), "--repeat", "1"});
    return words;
}

}  // namespace

Plan make_plan(const std::string& file, const std::vector<configs::Override>& overrides, configs::Axes axes) {
    Plan plan{configs::read_combinations(file, overrides, axes), {}, {}, {}};
    std::map<std::string, std::size_t> places;
    configs::FileDigests files;
    const auto lay_out = [&](Combination& combination, std::size_t i) {
        Experiment& experiment = combination.experiment;
        const bool native = experiment.backend == Backend::native;
        settle(experiment, native ? Part{0, experiment.platform.nodes, true} : Part{});
        std::vector<std::size_t> runs;
        for (std::uint64_t k = 0; k < experiment.repeat; ++k) {
            const std::uint64_t seed = experiment.seed + k;
            configs::Determinants determinants = configs::determinants_of(experiment.with_seed(seed), files);
            const std::string name = determinants.cell();
            const auto [place, is_new] = places.try_emplace(name, plan.cells.size());
            if (is_new)
                plan.cells.push_back({name, std::move(determinants), i, seed,
                                      words_of(file, overrides, combination, seed),
                                      native ? experiment.platform.nodes : 1, native});
            runs.push_back(place->second);
        }
        return runs;
    };
    std::vector<Combination>& all = plan.combinations.all;
    for (std::size_t i = 0; i < all.size(); ++i) plan.runs.push_back(lay_out(all[i], i));
    if (auto& baseline = plan.combinations.baseline) plan.baseline = lay_out(*baseline, all.size());
    return plan;
}

std::vector<std::string> Plan::names() const {
    std::vector<std::string> all;
    all.reserve(cells.size());
    for (const Cell& cell : cells) all.push_back(cell.name);
    return all;
}

const Combination& Plan::combination(const Cell& cell) const {
    const auto& all = combinations.all;
    return cell.combination < all.size() ? all[cell.combination] : *combinations.baseline;
}

std::string Plan::described(const Cell& cell) const {
    return fmt::format("{} seed={}", combination(cell).words, cell.seed);
}

}  // namespace heddle::cli
