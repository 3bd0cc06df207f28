#include "configs/combinations.hpp"

#include <fmt/format.h>

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

Combination combine(const std::string& text, const std::string& file, std::vector<Override> overrides,
                    const std::vector<Comparison>& compared, const std::vector<std::size_t>& chosen) {
    Combination combination;
    for (std::size_t i = 0; i < compared.size(); ++i) {
        const Value& value = compared[i].values[chosen[i]];
        combination.values.push_back(for_people(value));
        combination.assignment.push_back({compared[i].key, as_yaml(value, false), "compare", value});
    }
    overrides.insert(overrides.end(), combination.assignment.begin(), combination.assignment.end());
    overrides.push_back({"compare", "{}", "compare"});
    try {
        combination.experiment = read_experiment_text(text, file, overrides);
    } catch (const Error& error) {
        throw Error(fmt::format("compare, {}: {}", in_words(combination), error.message()), error.advice(),
                    error.where());
    }
    return combination;
}

}  // namespace

Combinations read_combinations_text(const std::string& text, const std::string& file,
                                    const std::vector<Override>& overrides) {
    Combinations combinations{read_experiment_text(text, file, overrides), {}, {}};
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
        combinations.all.push_back(combine(text, file, overrides, compared, chosen));
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
