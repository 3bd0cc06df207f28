// Digests a run's configuration, the files that it reads and the program's code; a cell's name comes from
// these.
#include "configs/cell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace heddle::configs {

namespace {

using Json = nlohmann::ordered_json;

/// The files that the run reads, each with the key that names it. Their digests come later.
std::vector<InputFile> files_named_by(const Experiment& experiment) {
    std::vector<InputFile> files;
    for (const Setting& setting : experiment.settings.declared()) {
        if (setting.kind != SettingKind::input_path) continue;
        const std::string stated = experiment.settings.text(setting.name);
        if (stated.empty() || (setting.names_file != nullptr && !setting.names_file(stated))) continue;
        files.push_back({"workload." + setting.name, experiment.settings.path(setting.name), {}});
    }
    if (experiment.backend == Backend::sim && !experiment.platform.file.empty())
        files.push_back({"platform.file", experiment.platform.file, {}});
    if (experiment.reads_placement())
        files.push_back({"schedule.placement_file", experiment.schedule.placement_file, {}});
    if (!experiment.platform_from.empty()) files.push_back({"platform.from", experiment.platform_from, {}});
    return files;
}

std::string file_name(const std::string& path) {
    return std::filesystem::path(path).filename().string();
}

std::string configuration_digest(const Experiment& experiment, const std::vector<InputFile>& files) {
    Json root = Json::parse(resolved_json(experiment));
    root.erase("name");
    root.erase("repeat");
    for (const InputFile& file : files) {
        const std::size_t dot = file.key.find('.');
        root[file.key.substr(0, dot)][file.key.substr(dot + 1)] = file_name(file.path);
    }
    return sha256(root.dump());
}

}  // namespace

std::string Determinants::cell() const {
    Json all = {{"configuration", configuration}, {"files", Json::array()}, {"program", Json::array()}};
    for (const InputFile& file : files) all["files"].push_back({file.key, file.sha256});
    for (const auto& [name, id] : program) all["program"].push_back({name, id});
    return sha256(all.dump()).substr(0, 16);
}

std::uint64_t Determinants::number() const {
    const std::string digits = cell();
    std::uint64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    return value;
}

Determinants determinants_of(const Experiment& experiment, FileDigests& files) {
    Determinants all;
    all.files = files_named_by(experiment);
    for (InputFile& file : all.files) file.sha256 = files.of(file.path);
    all.configuration = configuration_digest(experiment, all.files);
    all.program = program_code(*experiment.kind, experiment.backend == Backend::sim);
    return all;
}

Determinants determinants_of(const Experiment& experiment) {
    FileDigests files;
    return determinants_of(experiment, files);
}

std::string cell_name(const Experiment& experiment) {
    return determinants_of(experiment).cell();
}

std::string changed(const Determinants& before, const Determinants& after) {
    std::string words;
    const auto add = [&words](const std::string& what) {
        words += fmt::format("{}{} changed", words.empty() ? "" : ", ", what);
    };
    if (before.configuration != after.configuration) add("the configuration");
    for (const InputFile& file : after.files) {
        const auto same = std::find_if(before.files.begin(), before.files.end(),
                                       [&file](const InputFile& other) { return other.key == file.key; });
        if (same == before.files.end() || same->sha256 != file.sha256) add(file.path);
    }
    for (const auto& [name, id] : after.program) {
        const auto same = std::find_if(before.program.begin(), before.program.end(),
                                       [&known = name](const CodeId& other) { return other.first == known; });
        if (same != before.program.end() && same->second == id) continue;
        add(name == "program" || name == "workload" ? "the " + name : name);
    }
    return words;
}

}  // namespace heddle::configs
