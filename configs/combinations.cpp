#include "configs/combinations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace heddle::configs {

namespace {

/// As YAML that reads back as the same value: JSON where the plain text could be taken for something else.
std::string as_yaml(const Value& value, bool within_list) {
    if (value.kind == Value::Kind::list) {
        std::string items;
        for (const Value& item : value.children) items += (items.empty() ? "" : ", ") + as_yaml(item, true);
        return fmt::format("[{}]", items);
    }
    if (value.kind == Value::Kind::null) return "null";
    const bool plain =
        !value.quoted && (!within_list || value.text.find_first_of(",[]{}\"'#:") == std::string::npos);
    return plain ? value.text : nlohmann::json(value.text).dump();
}

std::string for_people(const Value& value) {
    return value.kind == Value::Kind::scalar ? value.text : as_yaml(value, false);
}

/// The experiment with the values of `chosen`, a pair of key and value each, which `section` gives it.
Combination combine(const std::string& text, const std::string& file, std::vector<Override> overrides,
                    const std::string& section, const std::vector<std::pair<std::string, Value>>& chosen) {
    Combination combination;
    for (const auto& [key, value] : chosen) {
        combination.values.push_back(for_people(value));
        combination.assignment.push_back({key, as_yaml(value, false), section, value});
    }
    overrides.insert(overrides.end(), combination.assignment.begin(), combination.assignment.end());
    overrides.push_back({"compare", "{}", "compare"});
    try {
        combination.experiment = read_experiment_text(text, file, overrides);
    } catch (const Error& error) {
        throw Error(fmt::format("{}, {}: {}", section, in_words(combination), error.message()),
                    error.advice(), error.where());
    }
    return combination;
}

/// Whether a published line is about this combination.
bool is_about(const PublishedSpeedup& line, const Combinations& combinations,
              const Combination& combination) {
    for (const Value& value : line.of) {
        const auto key = std::find(combinations.keys.begin(), combinations.keys.end(), value.key);
        if (key == combinations.keys.end())
            throw Error(fmt::format("published.speedups: {} is not compared", value.key),
                        "name a cell by keys of `compare` and their values", value.key_where);
        const auto place = static_cast<std::size_t>(key - combinations.keys.begin());
        if (combination.values[place] != for_people(value)) return false;
    }
    return true;
}

void find_published(Combinations& combinations) {
    for (const PublishedSpeedup& line : combinations.base.published->speedups) {
        std::size_t found = 0;
        for (std::size_t i = 0; i < combinations.all.size(); ++i) {
            if (!is_about(line, combinations, combinations.all[i])) continue;
            ++found;
            combinations.published_speedups[i] = line.speedup;
        }
        if (found != 1)
            throw Error(fmt::format("published.speedups: a line that is about {} of the cells", found),
                        "name one cell by the keys of `compare` and their values", line.where);
    }
}

}  // namespace

Combinations read_combinations_text(const std::string& text, const std::string& file,
                                    const std::vector<Override>& overrides) {
    Combinations combinations;
    combinations.base = read_experiment_text(text, file, overrides);
    const std::vector<Comparison>& compared = combinations.base.compare;
    if (compared.empty()) {
        throw Error(
            "nothing is compared",
            "add a section such as `compare: {platform.nodes: [1, 10, 100]}`; every combination of the "
            "values becomes a cell",
            {file, 0});
    }
    std::size_t count = 1;
    for (const Comparison& comparison : compared) {
        combinations.keys.push_back(comparison.key);
        count *= comparison.values.size();
        if (count > combinations_max) {
            throw Error(fmt::format("more than {} combinations", combinations_max),
                        "leave some values out, or make several files", comparison.where);
        }
    }
    combinations.all.reserve(count);
    std::vector<std::size_t> chosen(compared.size());
    for (std::size_t i = 0; i < count; ++i) {
        std::size_t rest = i;
        for (std::size_t key = compared.size(); key-- > 0;) {
            chosen[key] = rest % compared[key].values.size();
            rest /= compared[key].values.size();
        }
        std::vector<std::pair<std::string, Value>> values;
        for (std::size_t key = 0; key < compared.size(); ++key)
            values.emplace_back(compared[key].key, compared[key].values[chosen[key]]);
        combinations.all.push_back(combine(text, file, overrides, "compare", values));
    }
    combinations.published_speedups.resize(count);
    if (combinations.base.published) {
        std::vector<std::pair<std::string, Value>> values;
        for (const Value& value : combinations.base.published->baseline)
            values.emplace_back(value.key, value);
        combinations.baseline = combine(text, file, overrides, "published.baseline", values);
        find_published(combinations);
    }
    return combinations;
}

Combinations read_combinations(const std::string& path, const std::vector<Override>& overrides) {
    return read_combinations_text(read_text_file(path), path, overrides);
}

std::string in_words(const Combination& combination) {
    std::string words;
    for (std::size_t i = 0; i < combination.values.size(); ++i) {
        words += fmt::format("{}{}={}", words.empty() ? "" : " ", combination.assignment[i].key,
                             combination.values[i]);
    }
    return words;
}

}  // namespace heddle::configs
