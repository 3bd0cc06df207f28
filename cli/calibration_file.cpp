// Writes a calibration as YAML and CSV, and reads entries back to compare them.
#include "cli/calibration_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>

#include "base/units.hpp"
#include "cli/text_table.hpp"
#include "cli/worlds.hpp"
#include "configs/document.hpp"

namespace heddle::cli {

namespace {

using calibration::Calibration;
using calibration::Entry;

constexpr const char* memory_prefix = "memory_bandwidth.";

/// Four digits are more than any interval is narrow.
double rounded(double value) {
    if (value <= 0) return value;
    const double unit = std::pow(10, std::floor(std::log10(value)) - 4);
    return std::round(value / unit) * unit;
}

std::string written(Entry::Kind kind, double value) {
    switch (kind) {
        case Entry::Kind::time:
            return print_time(from_seconds(rounded(value)));
        case Entry::Kind::speed:
            return print_flops(std::round(rounded(value)));
        case Entry::Kind::bandwidth:
            break;
    }
    return print_bandwidth(std::round(rounded(value)));
}

std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump();
}

std::string interval(const Entry& entry) {
    return fmt::format("{} to {}", written(entry.kind, entry.low), written(entry.kind, entry.high));
}

/// The entries of one section below `platform`, or those without one.
std::string section_yaml(const Calibration& found, const std::string& section) {
    std::string text;
    for (const Entry& entry : found.entries) {
        const std::size_t dot = entry.key.find('.');
        const bool here = section.empty() ? dot == std::string::npos : entry.key.starts_with(section + ".");
        if (!here) continue;
        const std::string name = section.empty() ? entry.key : entry.key.substr(dot + 1);
        text += fmt::format("{}{}: {}  # {}\n", section.empty() ? "  " : "    ", name,
                            written(entry.kind, entry.value), interval(entry));
    }
    if (section.empty() || text.empty()) return text;
    return fmt::format("  {}:\n{}", section, text);
}

std::string memory_yaml(const Calibration& found) {
    std::string list;
    for (const Entry& entry : found.entries) {
        if (!entry.key.starts_with(memory_prefix)) continue;
        list += (list.empty() ? "" : ", ") + written(entry.kind, entry.value);
    }
    return list.empty() ? "" : fmt::format("  memory_bandwidth: [{}]\n", list);
}

std::string kernels_yaml(const Calibration& found) {
    std::string list;
    for (const Entry& entry : found.entries) {
        if (!entry.key.starts_with(calibration::kernel_key)) continue;
        std::string kernel = entry.key.substr(calibration::kernel_key.size());
        if (const auto at = kernel.find('@'); at != std::string::npos) kernel.replace(at, 1, ", size: ");
        list += fmt::format("    - {{kernel: {}, speed: {}}}  # {}\n", kernel,
                            written(entry.kind, entry.value), interval(entry));
    }
    return list.empty() ? "" : "  kernels:\n" + list;
}

/// Sizes ascend, and at each size sending comes before receiving.
std::string message_bytes_yaml(const Calibration& found) {
    std::string list;
    for (const Entry& entry : found.entries) {
        if (!entry.key.starts_with(calibration::message_bytes_key)) continue;
        const std::string end = entry.key.substr(calibration::message_bytes_key.size());
        const std::size_t at = end.find('@');
        const std::string value = fmt::format("{}: {}", end.substr(0, at), written(entry.kind, entry.value));
        list += end.starts_with("send") ? fmt::format("      - {{size: {}B, {}", end.substr(at + 1), value)
                                        : fmt::format(", {}}}\n", value);
    }
    return list.empty() ? "" : "    message_bytes:\n" + list;
}

std::string facts_yaml(const CalibrationFacts& facts) {
    std::string text =
        fmt::format("  heddle: {}\n  of: {}\n", quoted(versions().heddle), quoted(facts.world));
    if (!facts.processor.empty()) text += fmt::format("  processor: {}\n", quoted(facts.processor));
    text +=
        fmt::format("  cores: {}\n  processes: {}\n  quick: {}\n", facts.cores, facts.processes, facts.quick);
    if (facts.seconds > 0) text += fmt::format("  seconds: {:.0f}\n", facts.seconds);
    if (facts.line_seconds > 0)
        text += fmt::format("  line: {}  # of the cache, from core to core\n",
                            written(Entry::Kind::time, facts.line_seconds));
    return text + fmt::format("  noise: {{lost: {:.4f}, spread: {:.4f}, disturbed: {}}}\n  readings: {}\n",
                              facts.noise.lost, facts.noise.spread, facts.disturbed, quoted(facts.readings));
}

/// An entry as it was read back.
struct Stated {
    Entry::Kind kind = Entry::Kind::time;
    double value = 0, low = 0, high = 0;
};

const configs::Value& item_of(const configs::Value& mapping, const std::string& key) {
    const configs::Value* const item = mapping.find(key);
    if (item == nullptr || item->kind != configs::Value::Kind::scalar)
        throw Error(fmt::format("{}: `{}` is missing", mapping.key, key),
                    "name files that `heddle calibrate` has written", mapping.where);
    return *item;
}

double number_of(const configs::Value& item, Entry::Kind kind) {
    try {
        if (kind == Entry::Kind::time) return to_seconds(parse_time(item.text));
        return kind == Entry::Kind::speed ? parse_flops(item.text) : parse_bandwidth(item.text);
    } catch (const Error& error) {
        throw Error(fmt::format("{}: {}", item.key, error.message()), error.advice(), item.where);
    }
}

std::map<std::string, Stated> entries_in(const std::string& path) {
    const configs::Value root =
        configs::parse_document(configs::read_text_file(path), path, "`platform: {cores: 4}`");
    const configs::Value* const section = root.find("calibration");
    const configs::Value* const entries = section ? section->find("entries") : nullptr;
    if (entries == nullptr || entries->kind != configs::Value::Kind::mapping)
        throw Error("no `calibration` with `entries`", "name files that `heddle calibrate` has written",
                    root.where);
    std::map<std::string, Stated> stated;
    for (const configs::Value& entry : entries->children) {
        Stated& one = stated[entry.key];
        one.kind = calibration::kind_of(entry.key);
        one.value = number_of(item_of(entry, "value"), one.kind);
        one.low = number_of(item_of(entry, "low"), one.kind);
        one.high = number_of(item_of(entry, "high"), one.kind);
    }
    return stated;
}

}  // namespace

double line_seconds_in(const std::string& path) {
    const configs::Value root =
        configs::parse_document(configs::read_text_file(path), path, "`platform: {cores: 4}`");
    const configs::Value* const section = root.find("calibration");
    const configs::Value* const line = section ? section->find("line") : nullptr;
    return line ? number_of(*line, Entry::Kind::time) : 0;
}

std::string shown_value(const Entry& entry, double value) {
    return written(entry.kind, value);
}

std::string calibration_yaml(const Calibration& found, const CalibrationFacts& facts) {
    std::string text = fmt::format(
        "# Measured by `heddle calibrate`. Use it as `platform: {{from: FILE, nodes: 1000}}`; keys beside "
        "`from` win.\n# Behind each value is its interval of 95%.\nplatform:\n  cores: {}\n",
        facts.cores);
    text += section_yaml(found, "") + kernels_yaml(found) + memory_yaml(found);
    text += section_yaml(found, "overheads") + message_bytes_yaml(found);
    for (const char* section : {"network", "shared_memory"}) text += section_yaml(found, section);
    text += "calibration:\n" + facts_yaml(facts);
    if (!facts.hosts.empty()) text += "  hosts:  # as shares of the median\n";
    for (const auto& [name, speed] : facts.hosts)
        text += fmt::format("    - {{host: {}, core: {:.4f}, memory: {:.4f}, slow: {}}}\n", quoted(name),
                            speed.core, speed.memory, speed.is_slow());
    if (!found.remarks.empty()) text += "  remarks:\n";
    for (const std::string& remark : found.remarks) text += fmt::format("    - {}\n", quoted(remark));
    text += "  entries:\n";
    for (const Entry& entry : found.entries) {
        text += fmt::format("    {}: {{value: {}, low: {}, high: {}, samples: {}, method: {}}}\n", entry.key,
                            written(entry.kind, entry.value), written(entry.kind, entry.low),
                            written(entry.kind, entry.high), entry.samples, quoted(entry.method));
    }
    if (!found.trips.empty()) text += "  messages:  # half of a round trip, and what the entries say of it\n";
    for (const auto& trip : found.trips) {
        const auto time = [](double seconds) { return written(Entry::Kind::time, seconds); };
        text += fmt::format("    - {{bytes: {}, seen: {}, by_entries: {}}}  # {:+.1f}%\n", trip.bytes,
                            time(trip.seen), time(trip.by_entries), 100 * (trip.by_entries / trip.seen - 1));
    }
    text += "  missing:\n";
    for (const auto& missing : found.missing)
        text += fmt::format("    {}: {}\n", missing.key, quoted(missing.reason));
    return text;
}

calibration::Readings take_readings(const std::string& path) {
    std::string bytes;
    bool came = false;
    {
        std::ifstream stream(path, std::ios::binary);
        came = stream.is_open();  // a probe may read nothing on this machine
        bytes.assign(std::istreambuf_iterator<char>(stream), {});
    }
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    if (!came)
        throw Error(fmt::format("node 0 has left no readings in {} here", path),
                    "name this machine first in --hosts, or a folder that it shares with the first in --out");
    return calibration::from_bytes(std::as_bytes(std::span(bytes)));
}

std::string readings_csv(const std::vector<ProbeReadings>& all) {
    std::string text = "probe,quantity,size,count,seconds\n";
    for (const ProbeReadings& of_probe : all)
        for (const auto& reading : of_probe.readings)
            text += fmt::format("{},{},{},{},{}\n", of_probe.probe, reading.quantity, reading.size,
                                reading.count, reading.seconds);
    return text;
}

Difference difference_of(const std::string& a, const std::string& b) {
    constexpr double near = 0.05;
    const auto first = entries_in(a);
    const auto second = entries_in(b);
    Difference difference;
    std::vector<std::vector<std::string>> rows = {{"entry", "first", "second", "change", ""}};
    for (const auto& [key, one] : first) {
        const auto found = second.find(key);
        if (found == second.end()) {
            rows.push_back({key, written(one.kind, one.value), "", "", "only in the first"});
            continue;
        }
        const Stated& other = found->second;
        const bool overlap = one.low <= other.high && other.low <= one.high;
        // Of the first, as the change that is shown.
        const bool close = std::abs(other.value - one.value) <= near * one.value;
        difference.agree = difference.agree && (overlap || close);
        rows.push_back({key, written(one.kind, one.value), written(one.kind, other.value),
                        one.value > 0 ? fmt::format("{:+.1f}%", 100 * (other.value / one.value - 1)) : "",
                        overlap ? "intervals overlap"
                        : close ? "within 5%"
                                : "differ"});
    }
    for (const auto& [key, other] : second)
        if (!first.contains(key))
            rows.push_back({key, "", written(other.kind, other.value), "", "only in the second"});
    difference.table = columns(rows, 1);
    return difference;
}

}  // namespace heddle::cli
