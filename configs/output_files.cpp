// Finds the files that a workload's settings name for its output, and keeps them apart from results.
#include "configs/output_files.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace heddle::configs {

namespace {

namespace fs = std::filesystem;

bool is_within(const std::string& path, const std::string& directory) {
    std::error_code problem;
    const fs::path inner = fs::weakly_canonical(path, problem);
    if (problem) return false;
    const fs::path outer = fs::weakly_canonical(directory, problem);
    if (problem) return false;
    const fs::path way = inner.lexically_relative(outer);
    return !way.empty() && *way.begin() != "..";
}

}  // namespace

std::vector<NamedOutput> output_files(const Experiment& experiment) {
    const Settings& settings = experiment.settings;
    std::vector<NamedOutput> outputs;
    for (const Setting& setting : settings.declared()) {
        if (setting.kind != SettingKind::output_path || !settings.stated(setting.name)) continue;
        std::string path = settings.path(setting.name);
        if (path.empty()) continue;
        outputs.push_back({"workload." + setting.name, std::move(path), settings.where(setting.name)});
    }
    return outputs;
}

void refuse_output_among_results(const Experiment& experiment, const std::string& directory) {
    if (directory.empty()) return;
    for (const NamedOutput& output : output_files(experiment)) {
        if (is_within(output.path, directory))
            throw Error(
                fmt::format("{} is {}, in the directory of results {}", output.key, output.path, directory),
                "name a file elsewhere: results may have that name", output.where);
    }
}

}  // namespace heddle::configs
