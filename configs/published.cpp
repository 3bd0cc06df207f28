// Reads published numbers, and the baseline of speedups, from the `published` section.
#include "configs/published.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/error.hpp"

namespace heddle::configs {

namespace {

constexpr const char* advice =
    "write it like `published: {source: ..., what: ..., baseline: {platform.nodes: 1}, speedups: "
    "[{platform.nodes: 16, speedup: 10.5}]}`";

/// A list of the section: what its lines state of their cells.
struct Stated {
    const char* list;
    const char* number;    ///< the key of a line that states it
    const char* expected;  ///< for errors
    bool (*good)(double);
    std::vector<PublishedNumber> Published::*member;
    const char* example;
};

bool positive(double number) {
    return number > 0;
}

constexpr Stated kinds[] = {
    {"speedups", "speedup", "a speedup above 0", positive, &Published::speedups, advice},
    {"seconds", "seconds", "a number of seconds above 0", positive, &Published::seconds,
     "write it like `seconds: [{platform.nodes: 16, seconds: 44.0}]`"},
    {"improvements", "percent", "a percentage below 100", [](double number) { return number < 100; },
     &Published::improvements,
     "write it like `improvements: [{platform.nodes: 2, workload.n: 20, over: {workload.n: 10}, percent: "
     "5.2}]`: the cell takes so much less time than the one that differs from it in `over`"},
};

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

PublishedNumber number_of(const Stated& kind, const Value& line) {
    if (line.kind != Value::Kind::mapping)
        throw Error(
            fmt::format("published.{}: expected keys with values, found {}", kind.list, line.described()),
            kind.example, line.where);
    PublishedNumber number;
    number.where = line.where;
    bool stated = false;
    const bool between_two = kind.member == &Published::improvements;
    for (const Value& entry : line.children) {
        if (between_two && entry.key == "over") {
            number.over = entries_of(entry, Value::Kind::mapping, "keys with values");
        } else if (entry.key == kind.number) {
            const char* const end = entry.text.data() + entry.text.size();
            const auto parsed = std::from_chars(entry.text.data(), end, number.value);
            if (parsed.ec != std::errc{} || parsed.ptr != end || !std::isfinite(number.value) ||
                !kind.good(number.value))
                throw Error(fmt::format("published.{}: expected {}, found {}", kind.list, kind.expected,
                                        entry.described()),
                            kind.example, entry.where);
            stated = true;
        } else {
            number.of.push_back(entry);
        }
    }
    if (!stated)
        throw Error(fmt::format("published.{}: a line without `{}`", kind.list, kind.number), kind.example,
                    line.where);
    if (between_two && number.over.empty())
        throw Error("published.improvements: a line without `over`", kind.example, line.where);
    return number;
}

/// Whether this entry is one of the lists, which it then reads.
bool read_list(Published& published, const Value& entry) {
    for (const Stated& kind : kinds) {
        if (entry.key != kind.list) continue;
        for (const Value& line : entries_of(entry, Value::Kind::list, "a list"))
            (published.*kind.member).push_back(number_of(kind, line));
        return true;
    }
    return false;
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
        } else if (!read_list(published, entry)) {
            throw Error(fmt::format("unknown key \"{}\" in published", entry.key), advice, entry.key_where);
        }
    }
    const auto states = [&section](const char* key) { return section.find(key) != nullptr; };
    const bool needed = states("baseline") || states("speedups");
    if (published.baseline.empty() && (needed || !(states("seconds") || states("improvements"))))
        throw Error("published: no baseline is stated", advice, section.where);
    return published;
}

}  // namespace heddle::configs
