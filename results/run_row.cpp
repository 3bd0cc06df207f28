// Makes the rows of runs.csv and timings.csv: a row for each run, a column for each variable, in base units.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/units.hpp"
#include "configs/fields.hpp"
#include "results/record.hpp"
#include "results/result_json.hpp"

namespace heddle::results {

namespace {

using Json = nlohmann::ordered_json;

std::string as_text(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

/// What kind of value a key of the configuration holds, if this program knows the key.
std::optional<configs::Shape::Kind> kind_of(const std::string& key, const std::string& workload) {
    if (const configs::Field* field = configs::find_field(key)) return field->shape.kind;
    constexpr std::string_view prefix = "workload.";
    if (!key.starts_with(prefix)) return std::nullopt;
    for (const workloads::Kind& kind : workloads::all()) {
        if (kind.name != workload) continue;
        for (const Setting& setting : kind.settings)
            if (setting.name == key.substr(prefix.size())) return configs::shape_of(setting).kind;
    }
    return std::nullopt;
}

/// A quantity in base units: seconds, flops, bytes, bytes per second. Other values stay as they are; a list
/// is written as JSON.
std::string in_base_units(const Json& value, std::optional<configs::Shape::Kind> kind) {
    using Kind = configs::Shape::Kind;
    if (kind == Kind::bandwidths && value.is_array()) {
        std::string list;
        for (const Json& item : value)
            list += fmt::format("{}{}", list.empty() ? "" : ",", in_base_units(item, Kind::bandwidth));
        return fmt::format("[{}]", list);
    }
    if (!kind || !value.is_string()) return as_text(value);
    const std::string text = value.get<std::string>();
    try {
        if (*kind == Kind::time) return Json(static_cast<double>(parse_time(text).count()) / 1e12).dump();
        if (*kind == Kind::flops) return Json(parse_flops(text)).dump();
        if (*kind == Kind::bytes) return Json(parse_bytes(text)).dump();
        if (*kind == Kind::bandwidth || *kind == Kind::bandwidths) return Json(parse_bandwidth(text)).dump();
    } catch (const Error&) {
        return text;  // of a version that wrote units of its own
    }
    return text;
}

class RowWriter {
public:
    explicit RowWriter(const Json& result) : result_(&result) {}

    void add(const char* name) { put(name, result_->at(name)); }
    void put(const std::string& name, const Json& value) {
        row_.emplace_back(name, value.is_null() ? "" : as_text(value));
    }

    /// A section of the configuration, a column for each key.
    void add_configuration(const Json& section, const std::string& prefix) {
        const std::string workload = result_->at("workload");
        for (const auto& [key, value] : section.items()) {
            const std::string name = prefix.empty() ? key : fmt::format("{}.{}", prefix, key);
            if (value.is_object()) {
                add_configuration(value, name);
            } else {
                row_.emplace_back(column(name), in_base_units(value, kind_of(name, workload)));
            }
        }
    }

    Row row() && { return std::move(row_); }

private:
    const Json* result_;
    Row row_;
};

/// The first digits of a digest of all ids: equal in two rows if the same code, or the same files, made them.
std::string short_digest(const Json& ids) {
    return ids.empty() ? std::string() : configs::sha256(ids.dump()).substr(0, 12);
}

/// The row of runs.csv that says the same as result.json.
Row row_of(const Json& result) {
    RowWriter row(result);
    for (const char* name :
         {"cell", "ok", "makespan_seconds", "promised_seconds", "lower_bound_seconds", "tasks"})
        row.add(name);
    const Json& steals = result.at("steals");
    row.put("steals_within_node", steals.at("within_node"));
    row.put("steals_between_nodes", steals.at("between_nodes"));
    row.put("steals_between_groups", steals.at("between_groups"));
    row.put("steal_attempts", steals.at("attempts"));
    for (const char* name : {"requests", "requests_granted", "far_requests", "far_requests_granted"})
        if (steals.contains(name))
            row.put(fmt::format("steal_{}", name), steals.at(name));  // earlier versions had none
    for (const char* name : {"messages", "active_messages", "bytes", "data_bytes", "promised_data_bytes",
                             "declared_flops", "busy_seconds"})
        row.add(name);
    for (const auto& [state, time] : result.at("time_seconds").items())
        row.put(fmt::format("time_seconds_{}", state), time);
    row.add("nodes");
    row.add("cores");
    Json configuration = result.at("configuration");
    configuration.erase("repeat");
    // A platform file states them, not the configuration; a table has one place for them all the same.
    for (const char* count : {"nodes", "cores"}) {
        Json& platform = configuration["platform"];
        if (!platform.contains(count)) platform[count] = result.at(count);
    }
    row.add_configuration(configuration, "");
    for (const auto& [name, value] : result.at("answer").items()) row.put("answer_" + column(name), value);
    const Json& determinants = result.at("determinants");
    row.put("program_id", short_digest(determinants.at("program")));
    row.put("files_id", short_digest(determinants.at("files")));
    // Empty where the program has no shared memory.
    const Json memory = result.value("memory", Json::object());
    for (const std::string name :
         {"page_faults", "page_requests", "pages_moved", "page_bytes", "invalidations"})
        row.put("memory_" + name, memory.value(name, Json()));
    return std::move(row).row();
}

template <class Read>
Row read_json(const std::string& text, Read read) {
    try {
        const Json json = parse_result(text);
        if (json.is_discarded()) throw Error("not a result of heddle (it is no JSON)");
        return read(json);
    } catch (const Json::exception& error) {
        throw Error(fmt::format("not a result of heddle ({})", error.what()));
    }
}

}  // namespace

std::string column(const std::string& key) {
    std::string name = key;
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
}

Row run_row(const Record& record) {
    return run_row(result_json(record));
}

Row run_row(const std::string& result_json_text) {
    return read_json(result_json_text, row_of);
}

Row timing_row(const Record& record) {
    return timing_row(record.determinants.cell(), timing_json(record));
}

Row timing_row(const std::string& cell, const std::string& timing_json_text) {
    return read_json(timing_json_text, [&cell](const Json& timing) {
        return Row{{"cell", cell},
                   {"wall_seconds", as_text(timing.at("wall_seconds"))},
                   {"placement_seconds", as_text(timing.at("placement_seconds"))},
                   {"peak_memory_bytes", as_text(timing.at("peak_memory_bytes"))},
                   {"host", as_text(timing.at("host"))},
                   {"sim_threads", as_text(timing.value("sim_threads", Json(0)))}};  // not in older files
    });
}

}  // namespace heddle::results
