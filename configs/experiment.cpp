// Reads an experiment: expands shorthands, applies the command line's values, checks keys, and completes the
// platform.
#include "configs/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "configs/check_experiment.hpp"
#include "configs/fields.hpp"
#include "configs/platform_base.hpp"
#include "configs/policy_settings.hpp"
#include "partitioners/partitioner.hpp"
#include "partitioners/place_graph.hpp"
#include "workloads/work_kinds.hpp"

namespace heddle::configs {

namespace {

constexpr const char* stealing_section = "schedule.stealing";
constexpr const char* workload_advice = "write `workload: {name: fib}`; `heddle list workloads` names them";

std::string joined(const std::string& section, const std::string& key) {
    return section.empty() ? key : section + "." + key;
}

/// How many parts a key below `compare` has, such as `pivot.shows` and `variants.tuned.platform.nodes`. What
/// is compared is named by one part, which has dots in it.
std::size_t parts_below_compare(const std::string& key) {
    const std::string first = key.substr(0, key.find('.'));
    if (first == "variants") return 3;
    return first == "zip" || first == "pivot" || first == "baseline" ? 2 : 1;
}

/// Puts an override into the tree, in the place of what was there.
void apply(Value& root, const Override& given) {
    const Location where = given.parsed ? given.parsed->where : Location{given.origin, 0};
    Value value = given.parsed ? *given.parsed : parse_value(given.value, where);
    Value* place = &root;
    std::string rest = given.key;
    std::size_t parts = rest.size();
    for (;; --parts) {
        if (place->key == "compare") parts = parts_below_compare(rest);
        const std::size_t dot = parts <= 1 ? std::string::npos : rest.find('.');
        const std::string key = rest.substr(0, dot);
        if (key.empty()) throw Error("an empty key", "write KEY=VALUE, such as platform.nodes=4", where);
        Value* next = place->find(key);
        if (next == nullptr) {
            Value fresh;
            fresh.kind = Value::Kind::mapping;
            fresh.where = where;
            fresh.key = key;
            fresh.key_where = where;
            place->children.push_back(std::move(fresh));
            next = &place->children.back();
        }
        if (dot == std::string::npos) {
            value.key = key;
            value.key_where = where;
            *next = std::move(value);
            return;
        }
        // Another kind of value was there: the key below takes its place.
        if (next->kind != Value::Kind::mapping) {
            next->kind = Value::Kind::mapping;
            next->children.clear();
        }
        place = next;
        rest = rest.substr(dot + 1);
    }
}

/// Reads a tree into an experiment.
class Reader {
public:
    explicit Reader(Experiment& experiment) : experiment_(&experiment) {}

    void read(const Value& root) {
        read_section(root, "");
        if (experiment_->kind == nullptr)
            throw Error("no workload is stated", workload_advice, {experiment_->file, 0});
        for (const Axis& axis : experiment_->compare.axes) check(axis);
    }

    void read_section(const Value& section, const std::string& path) {
        for (const Value& entry : section.children) read_entry(entry, joined(path, entry.key));
    }

private:
    void read_entry(const Value& entry, const std::string& key) {
        experiment_->stated[key] = entry.where;
        if (key == "workload") {
            read_workload(entry);
        } else if (key == "compare") {
            experiment_->compare = read_compare_section(entry);
        } else if (key == "published") {
            experiment_->published = read_published(entry);
        } else if (const Field* field = find_field(key)) {
            field->read(*experiment_, entry);
        } else if (is_section(key)) {
            expect_mapping(entry, key);
            // The policy says which other keys there are.
            const Value* victim = key == stealing_section ? entry.find("victim") : nullptr;
            if (victim != nullptr) read_entry(*victim, joined(key, "victim"));
            read_section(entry, key);
        } else if (key.starts_with(joined(stealing_section, ""))) {
            read_policy_setting(*experiment_, key, entry);
        } else {
            const std::size_t dot = key.rfind('.');
            const std::string section = dot == std::string::npos ? "" : key.substr(0, dot);
            std::vector<std::string> known = names_below(section);
            for (std::string& whole : keys_that_end(entry.key)) known.push_back(std::move(whole));
            throw Error(
                fmt::format("unknown key \"{}\"{}", entry.key, section.empty() ? "" : " in " + section),
                nearest_advice(entry.key, known), entry.key_where);
        }
    }

    /// The keys that `name` would be if its sections were stated, such as platform.nodes.
    std::vector<std::string> keys_that_end(const std::string& name) const {
        std::vector<std::string> keys;
        for (const Field& field : fields())
            if (field.key.ends_with("." + name)) keys.push_back(field.key);
        if (experiment_->kind == nullptr) return keys;
        for (const Setting& setting : experiment_->kind->settings)
            if (setting.name == name) keys.push_back("workload." + name);
        return keys;
    }

    static void expect_mapping(const Value& entry, const std::string& key) {
        if (entry.kind == Value::Kind::mapping) return;
        std::string advice = fmt::format("write `{}: {{key: value}}` or leave it out", entry.key);
        if (key == stealing_section) {
            const Field* victim = find_field("schedule.stealing.victim");
            advice = entry.kind == Value::Kind::scalar
                         ? fmt::format("write `stealing: {{victim: {}}}`", entry.text)
                         : nearest_advice("", victim->shape.choices);
        }
        throw Error(fmt::format("{}: expected keys with values, found {}", key, entry.described()), advice,
                    entry.where);
    }

    void read_workload(const Value& entry) {
        if (entry.kind != Value::Kind::mapping) {
            throw Error(fmt::format("workload: expected keys with values, found {}", entry.described()),
                        entry.kind == Value::Kind::scalar
                            ? fmt::format("write `workload: {{name: {}}}`", entry.text)
                            : workload_advice,
                        entry.where);
        }
        const Value* name = entry.find("name");
        if (name == nullptr) throw Error("workload.name is missing", workload_advice, entry.where);
        experiment_->kind = &kind_of(*name);
        experiment_->settings = Settings(experiment_->kind->settings);
        for (const Value& setting : entry.children) {
            experiment_->stated["workload." + setting.key] = setting.where;
            if (setting.key != "name") read_setting(experiment_->settings, "workload", setting.key, setting);
        }
    }

    static const workloads::Kind& kind_of(const Value& name) {
        const std::string text = scalar_text(name, "workload.name", {});
        try {
            return workloads::find(text);
        } catch (const Error& error) {
            throw error.at(name.where);
        }
    }

    /// Every key of an axis is known, every value is one that it may have, and no point is there twice.
    void check(const Axis& axis) const {
        const std::string& first = axis.keys.front();
        if (axis.keys.size() == 1 && (first == "name" || first == "repeat"))
            throw Error(fmt::format("compare: {} changes no run, so its values have the same ones", first),
                        "leave it out, or state it in `zip` or `variants` beside what it belongs to",
                        axis.where);
        std::set<std::string> seen;
        for (const Point& point : axis.points) {
            Experiment scratch = *experiment_;
            std::string form;
            for (const auto& [key, value] : point.sets) {
                if (is_shorthand(key, value)) {
                    form += value.text + "\n";
                    continue;
                }
                check_key(key, value.key.empty() ? axis.where : value.key_where);
                form += in_one_form(scratch, key, value) + "\n";
            }
            const bool named = axis.keys.front() == variant_key;
            if (named || seen.insert(form).second) continue;
            const Value& value = point.sets.front().second;
            throw Error(
                fmt::format("compare: {}: {} is there twice", point.sets.front().first, value.described()),
                "state every value once; `repeat` gives more runs of each", value.where);
        }
    }

    void check_key(const std::string& key, const Location& where) const {
        // Whether the policy of a combination has a setting is seen when the combination is read.
        if (is_policy_setting(key)) return;
        const std::vector<std::string> known =
            known_keys(*experiment_->kind, experiment_->schedule.stealing.victim);
        if (std::find(known.begin(), known.end(), key) != known.end()) return;
        const auto below = std::ranges::find_if(
            known, [&](const std::string& other) { return other.starts_with(key + "."); });
        if (below != known.end())
            throw Error(fmt::format("compare: {} has keys of its own", key),
                        fmt::format("compare one of them, such as {}", *below), where);
        throw Error(fmt::format("compare: unknown key \"{}\"", key), nearest_advice(key, known), where);
    }

    /// Reads a value of a known key into `scratch`, and returns what was read: equal for `1` and `+1`.
    static std::string in_one_form(Experiment& scratch, const std::string& key, const Value& value) {
        if (key == "workload.name") return kind_of(value).name;
        if (const Field* field = find_field(key)) {
            field->read(scratch, value);
            return field->show(scratch).dump();
        }
        const bool of_policy = is_policy_setting(key);
        Settings& settings = of_policy ? scratch.schedule.stealing.own : scratch.settings;
        const std::string name = key.substr(key.rfind('.') + 1);
        const auto setting = std::ranges::find(settings.declared(), name, &Setting::name);
        if (of_policy && setting == settings.declared().end()) return for_people(value);
        read_setting(settings, key.substr(0, key.rfind('.')), name, value);
        return shown_setting(settings, *setting).dump();
    }

    Experiment* experiment_;
};

void finish_platform(Platform& platform, const Experiment& experiment) {
    check_networks(platform, experiment);
    platform.where = experiment.where("platform");
    platform.stated_nodes = experiment.is_stated("platform.nodes");
    platform.stated_cores = experiment.is_stated("platform.cores");
    platform.stated_core_speed = experiment.is_stated("platform.core_speed");
}

/// Fills in what follows from the rest, where the machine is only described.
void complete_platform(Experiment& experiment) {
    Platform& platform = experiment.platform;
    if (experiment.backend == Backend::native) return;
    if (platform.cores == 0 && platform.file.empty()) platform.cores = 1;
    if (experiment.backend == Backend::sim && platform.file.empty()) complete(platform);
}

/// What a unit of work costs if the platform knows the speed of its kind, and no cost is stated: as many
/// flops at core_speed as take that long.
void complete_unit_cost(Experiment& experiment) {
    const auto unit = workloads::kernel_of(experiment.kind->name);
    const double size = unit.size_setting.empty() ? 0 : experiment.settings.number(unit.size_setting);
    const auto speed = speed_of(experiment.kernels, unit.kernel, size);
    constexpr const char* unit_cost = "unit_cost";
    if (!speed || experiment.settings.stated(unit_cost)) return;
    if (experiment.backend == Backend::sim && !experiment.platform.file.empty() &&
        !experiment.is_stated("platform.core_speed"))
        throw Error("platform.kernels is stated beside a platform file, whose hosts have speeds of their own",
                    "state platform.core_speed, which all cores then have, or leave the kernels out",
                    experiment.where("platform.kernels"));
    const double declared = experiment.settings.number(unit_cost);
    const double flops = declared * experiment.platform.core_speed / *speed;
    experiment.settings.set(unit_cost, fmt::format("{:.6g}f", flops), experiment.platform.where);
    experiment.unit_cost_of_kernel = true;
    const double charged = experiment.settings.number(unit_cost);
    if (charged > 0) experiment.declared_per_charged = declared / charged;
}

Value tree_of(const std::string& text, const std::string& file, const std::vector<Override>& overrides) {
    Value root = parse_document(text, file);
    expand_shorthands(root);
    for (const Override& given : overrides) {
        apply(root, given);
        expand_shorthands(root);
    }
    return root;
}

/// Runs `read`. An error about a value of the command line names its key once: the place of the value is
/// `--set KEY`.
template <class Read>
auto naming_keys_once(const std::vector<Override>& overrides, Read read) {
    try {
        return read();
    } catch (const Error& error) {
        for (const Override& given : overrides) {
            const std::string key = given.key + ": ";
            if (error.where().file == given.origin && error.message().starts_with(key))
                throw error.reworded(error.message().substr(key.size()), error.where());
        }
        throw;
    }
}

Experiment start(const std::string& file) {
    Experiment experiment;
    experiment.file = file;
    experiment.name = std::filesystem::path(file).stem().string();
    choose_policy(experiment, experiment.schedule.stealing.victim);
    return experiment;
}

}  // namespace

const char* name(Backend backend) {
    switch (backend) {
        case Backend::native:
            return "native";
        case Backend::sim:
            return "sim";
        case Backend::inprocess:
            break;
    }
    return "inprocess";
}

const char* name(Compute compute) {
    return compute == Compute::measured ? "measured" : "declared";
}

const char* name(Transport transport) {
    switch (transport) {
        case Transport::mpi:
            return "mpi";
        case Transport::udp:
            return "udp";
        case Transport::tcp:
            break;
    }
    return "tcp";
}

std::vector<std::string> backend_names() {
    return {name(Backend::native), name(Backend::sim), name(Backend::inprocess)};
}

bool Experiment::reads_placement() const {
    return schedule.placement == partitioners::from_file;
}

Location Experiment::where(const std::string& key) const {
    const auto found = stated.find(key);
    return found == stated.end() ? Location{file, 0} : found->second;
}

std::unique_ptr<workloads::Workload> Experiment::make_workload() const {
    try {
        return kind->make(settings);
    } catch (const Error& error) {
        throw error.at(where("workload.name"));
    }
}

Experiment Experiment::with_seed(std::uint64_t other) const {
    Experiment copy = *this;
    copy.seed = other;
    copy.schedule.seed = other;
    return copy;
}

Override parse_override(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
        throw Error(fmt::format("--set {}: expected KEY=VALUE", text),
                    "write it like --set platform.nodes=4");
    }
    const std::string key = text.substr(0, equals);
    return {key, text.substr(equals + 1), "--set " + key};
}

Experiment read_experiment_text(const std::string& text, const std::string& file,
                                const std::vector<Override>& overrides) {
    return naming_keys_once(overrides, [&] {
        Value root = tree_of(text, file, overrides);
        const std::vector<std::string> base_kernels = add_platform_base(root);
        Experiment experiment = start(file);
        Reader(experiment).read(root);
        experiment.schedule.seed = experiment.seed;
        finish_platform(experiment.platform, experiment);
        complete_platform(experiment);
        complete_unit_cost(experiment);
        check_together(experiment, base_kernels);
        return experiment;
    });
}

Experiment read_experiment(const std::string& path, const std::vector<Override>& overrides) {
    const auto is_named = [&](const workloads::Kind& kind) { return kind.name == path; };
    if (std::ranges::any_of(workloads::all(), is_named) && !std::filesystem::exists(path)) {
        throw Error(fmt::format("there is no file `{}`, and a workload runs from a file", path),
                    fmt::format("name a YAML file that has `workload: {{name: {}}}`", path));
    }
    return read_experiment_text(read_text_file(path), path, overrides);
}

Platform read_platform(const std::string& path, const std::vector<Override>& overrides) {
    return read_platform_text(read_text_file(path), path, overrides);
}

Platform read_platform_text(const std::string& text, const std::string& file,
                            const std::vector<Override>& overrides) {
    return read_platform_section(text, file, overrides).platform;
}

PlatformSection read_platform_section(const std::string& text, const std::string& file,
                                      const std::vector<Override>& overrides) {
    Value root = parse_document(text, file, "`platform: {nodes: 16}`");
    if (root.find("workload") != nullptr && root.find("platform") == nullptr) {
        // An experiment that states nothing of its platform has the default one.
        Value none;
        none.kind = Value::Kind::mapping;
        none.key = "platform";
        none.where = none.key_where = {file, 0};
        root.children.push_back(std::move(none));
    } else if (root.find("platform") == nullptr) {
        Value whole;
        whole.kind = Value::Kind::mapping;
        root.key = "platform";
        root.key_where = root.where;
        whole.children.push_back(std::move(root));
        root = std::move(whole);
    }
    expand_shorthands(root);
    return naming_keys_once(overrides, [&] {
        for (const Override& given : overrides) {
            apply(root, given);
            expand_shorthands(root);
        }
        add_platform_base(root);
        Experiment experiment = start(file);
        Value only;
        only.kind = Value::Kind::mapping;
        only.children.push_back(*root.find("platform"));
        Reader(experiment).read_section(only, "");
        finish_platform(experiment.platform, experiment);
        return PlatformSection{experiment.platform, experiment.kernels};
    });
}

std::vector<std::string> input_files(const Experiment& experiment) {
    std::vector<std::string> files = experiment.settings.input_files();
    if (experiment.backend == Backend::sim && !experiment.platform.file.empty())
        files.push_back(experiment.platform.file);
    if (experiment.reads_placement()) files.push_back(experiment.schedule.placement_file);
    if (!experiment.platform_from.empty()) files.push_back(experiment.platform_from);
    return files;
}

std::vector<std::string> files_read(const Experiment& experiment) {
    std::vector<std::string> files = input_files(experiment);
    files.push_back(experiment.file);
    return files;
}

std::string path_shown(const Experiment& experiment, const std::string& key, const std::string& stated) {
    if (key == "platform.file") return experiment.platform.file;
    if (key == "platform.from") return experiment.platform_from;
    if (key == "schedule.placement_file") return experiment.schedule.placement_file;
    for (const Setting& setting : experiment.settings.declared()) {
        const bool path = setting.kind == SettingKind::input_path || setting.kind == SettingKind::output_path;
        if (path && key == "workload." + setting.name) return experiment.settings.path(setting.name);
    }
    return stated;
}

std::vector<std::string> known_keys(const workloads::Kind& workload, const std::string& policy) {
    std::vector<std::string> keys;
    for (const Field& field : fields()) {
        keys.push_back(field.key);
        if (field.key == "schedule.stealing.victim")
            std::ranges::copy(policy_keys(policy), std::back_inserter(keys));
        if (field.key != "name") continue;
        keys.emplace_back("workload.name");
        for (const Setting& setting : workload.settings) keys.push_back("workload." + setting.name);
    }
    return keys;
}

}  // namespace heddle::configs
