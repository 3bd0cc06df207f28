// Lists the cells of a comparison (one: a configuration and a seed), with the command line that runs each.
#include "cli/comparison_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <utility>

#include "cli/worlds.hpp"
#include "configs/output_files.hpp"

namespace heddle::cli {

namespace {

using configs::Backend;
using configs::Combination;
using configs::Experiment;

/// A compared value for the command line. A path of the file is relative to that file; on the command line to
/// the working directory. The name of an output belongs to what names a cell: it stays relative if it is so.
std::string value_for_cell(const Experiment& experiment, const configs::Override& given) {
    namespace fs = std::filesystem;
    const std::string shown = configs::path_shown(experiment, given.key, given.value);
    if (shown == given.value) return shown;  // YAML already, or no path
    const auto outputs = configs::output_files(experiment);
    const bool is_output = std::ranges::find(outputs, given.key, &configs::NamedOutput::key) != outputs.end();
    if (!is_output || fs::path(given.value).is_absolute() || !fs::path(shown).is_absolute())
        return as_yaml(shown);
    return as_yaml(fs::path(shown).lexically_relative(fs::current_path()).string());
}

/// The command that runs one cell: what people would type.
std::vector<std::string> words_of(const std::string& file, const std::vector<configs::Override>& overrides,
                                  const Combination& combination, std::uint64_t seed) {
    const Experiment& experiment = combination.experiment;
    std::vector<std::string> words;
    const Platform& platform = experiment.platform;
    if (experiment.backend == Backend::native && platform.nodes > 1 && !by_mpi(experiment)) {
        words = {"launch", "-n", std::to_string(platform.beginners())};
        if (platform.beginners() != platform.nodes)
            words.insert(words.end(), {"--capacity", std::to_string(platform.nodes)});
        words.insert(words.end(), {"--", "heddle"});
    }
    words.insert(words.end(), {"run", file});
    const auto set = [&words](const std::string& key, const std::string& value) {
        words.insert(words.end(), {"--set", fmt::format("{}={}", key, value)});
    };
    for (const configs::Override& given : overrides) {
        if (given.key != "seed" && given.key != "repeat") set(given.key, given.value);
    }
    for (const configs::Override& given : combination.assignment) {
        if (given.key == "seed" || given.key == "repeat") continue;
        set(given.key, value_for_cell(experiment, given));
    }
    words.insert(words.end(), {"--seed", std::to_string(seed), "--repeat", "1"});
    return words;
}

/// The ranks of MPI would have to be the nodes that the launcher starts.
void refuse_network_by_mpi(const Experiment& experiment) {
    if (!mpi_carries(experiment) || by_mpi(experiment)) return;
    for (std::size_t i = 0; i < experiment.carriers.size(); ++i)
        if (experiment.carriers[i].transport == configs::NetworkCarrier::Kind::mpi)
            throw Error("MPI carries a network, and the cells of a comparison are started by `heddle launch`",
                        "state platform.transport: mpi, or another transport there",
                        experiment.platform.networks[i].where);
}

/// A device, such as /dev/null, takes what all cells write.
bool is_device(const std::filesystem::path& path) {
    std::error_code ignored;
    const std::filesystem::file_status status = std::filesystem::status(path, ignored);
    return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

}  // namespace

Plan make_plan(const std::string& file, const std::vector<configs::Override>& overrides, configs::Axes axes) {
    Plan plan{configs::read_combinations(file, overrides, axes), {}, {}, {}};
    std::map<std::string, std::size_t> places;
    configs::FileDigests files;
    const auto lay_out = [&](Combination& combination, std::size_t i) {
        Experiment& experiment = combination.experiment;
        const bool native = experiment.backend == Backend::native;
        refuse_network_by_mpi(experiment);
        // Each cell is one run.
        const std::uint32_t repeat = std::exchange(experiment.repeat, 1U);
        settle(experiment, native ? Part{.nodes = experiment.platform.nodes,
                                         .launched = true,
                                         .at_start = experiment.platform.beginners()}
                                  : Part{});
        experiment.repeat = repeat;
        // A simulation may take the time of code from the machine, which simulations beside it would
        // lengthen.
        const bool alone = native || experiment.compute == configs::Compute::measured;
        std::vector<std::size_t> runs;
        for (std::uint64_t k = 0; k < experiment.repeat; ++k) {
            const std::uint64_t seed = experiment.seed + k;
            configs::Determinants determinants = configs::determinants_of(experiment.with_seed(seed), files);
            const std::string name = determinants.cell();
            const auto [place, is_new] = places.try_emplace(name, plan.cells.size());
            if (is_new)
                plan.cells.push_back({name, std::move(determinants), i, seed,
                                      words_of(file, overrides, combination, seed),
                                      native ? experiment.platform.nodes : 1, alone});
            runs.push_back(place->second);
        }
        return runs;
    };
    std::vector<Combination>& all = plan.combinations.all;
    for (std::size_t i = 0; i < all.size(); ++i) plan.runs.push_back(lay_out(all[i], i));
    if (auto& baseline = plan.combinations.baseline) plan.baseline = lay_out(*baseline, all.size());
    return plan;
}

void expect_readable_by_cells(const std::string& file) {
    // These mean another file in each process, also where they lead to a regular one here.
    constexpr std::array<std::string_view, 3> own = {"/dev/stdin", "/dev/fd/", "/proc/self/fd/"};
    const bool is_own =
        std::ranges::any_of(own, [&](std::string_view name) { return file.starts_with(name); });
    std::error_code ignored;
    const std::filesystem::file_status status = std::filesystem::status(file, ignored);
    const bool readable =
        !std::filesystem::exists(status) || std::filesystem::is_directory(status) ||
        std::filesystem::is_regular_file(status);  // the first two have an error of their own
    if (readable && !is_own) return;
    throw Error("each run is a process that reads the experiment again, which only a regular file allows",
                "write it to a file, and name that", {file, 0});
}

void refuse_shared_outputs(const Plan& plan, const std::string& directory) {
    std::set<std::string> written;
    for (const Cell& cell : plan.cells) {
        const Experiment& experiment = plan.combination(cell).experiment;
        configs::refuse_output_among_results(experiment, directory);
        for (const configs::NamedOutput& output : configs::output_files(experiment)) {
            std::error_code ignored;
            const std::filesystem::path path = std::filesystem::weakly_canonical(output.path, ignored);
            if (is_device(output.path) || written.insert(path.string()).second) continue;
            throw Error(
                fmt::format("{} is {} for more than one cell", output.key, output.path),
                fmt::format("leave {} out, or compare it with `repeat: 1`: a file for each cell", output.key),
                output.where);
        }
    }
}

std::string as_yaml(const std::string& text) {
    try {
        const configs::Value read = configs::parse_value(text, {});
        if (read.kind == configs::Value::Kind::scalar && !read.quoted && read.text == text) return text;
    } catch (const Error&) {
        // It is not YAML.
    }
    return nlohmann::json(text).dump();
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
