// Reads published speedups and their baseline from the `published` section.
#include "configs/published.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/error.hpp"

namespace heddle::configs {

namespace {

constexpr const char* advice =
    "write it like `published: {source: ..., what: ..., baseline: {platform.nodes: 1}, speedups: "
    "[{platform.nodes: 16, speedup: 10.5}]}`";

std::string text_of(const Value& entry) {
    if (entry.kind == Value::Kind::scalar) return entry.text;
    throw Error(fmt::format("published.{}: expected text, found {}", entry.key, entry.described()), advice,
                entry.where);
}

const std::vector<Value>& entries_of(const Value& entry, Value::Kind kind, const char* what) {
    if (entry.kind == kind) return entry.children;
    throw Error(fmt::format("published.{}: expected {}, found {}", entry.key, what, entry.described()),
                advice, entry.where);
}

PublishedSpeedup speedup_of(const Value& line) {
    PublishedSpeedup speedup;
    speedup.where = line.where;
    if (line.kind != Value::Kind::mapping)
        throw Error(fmt::format("published.speedups: expected keys with values, found {}", line.described()),
                    advice, line.where);
    for (const Value& entry : line.children) {
        if (entry.key != "speedup") {
            speedup.of.push_back(entry);
            continue;
        }
        const char* const end = entry.text.data() + entry.text.size();
        const auto parsed = std::from_chars(entry.text.data(), end, speedup.speedup);
        if (parsed.ec != std::errc{} || parsed.ptr != end || !(speedup.speedup > 0))
            throw Error(
                fmt::format("published.speedups: expected a speedup above 0, found {}", entry.described()),
                advice, entry.where);
    }
    if (!(speedup.speedup > 0))
        throw Error("published.speedups: a line without `speedup`", advice, line.where);
    return speedup;
}

}  // namespace

Published read_published(const Value& section) {
    if (section.kind != Value::Kind::mapping)
        throw Error(fmt::format("published: expected keys with values, found {}", section.described()),
                    advice, section.where);
    Published published;
    published.section = section;
    for (const Value& entry : section.children) {
        if (entry.key == "source") {
            published.source = text_of(entry);
        } else if (entry.key == "what") {
            published.what = text_of(entry);
        } else if (entry.key == "baseline") {
            published.baseline = entries_of(entry, Value::Kind::mapping, "keys with values");
        } else if (entry.key == "speedups") {
            for (const Value& line : entries_of(entry, Value::Kind::list, "a list"))
                published.speedups.push_back(speedup_of(line));
        } else {
            throw Error(fmt::format("unknown key \"{}\" in published", entry.key), advice, entry.key_where);
        }
    }
    if (published.baseline.empty()) throw Error("published: no baseline is stated", advice, section.where);
    return published;
}

}  // namespace heddle::configs
