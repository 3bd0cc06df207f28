// Makes the fields of an experiment (fields.hpp), for the files that list them. Each is made from an
// accessor: a function that returns a reference to the value in an experiment.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/paths.hpp"
#include "base/units.hpp"
#include "configs/fields.hpp"

namespace heddle::configs {

/// Runs `read`, and gives its error the key and the place of the value.
template <class Read>
void located(const std::string& key, const Value& value, Read read) {
    try {
        read();
    } catch (const Error& error) {
        throw Error(key + ": " + error.message(), error.advice(), value.where);
    }
}

template <class Access>
Field integer(std::string key, double at_least, double at_most, std::string help, Access access) {
    using Target = std::decay_t<std::invoke_result_t<Access, Experiment&>>;
    HEDDLE_ASSERT(Settings::fits<Target>(at_least) && Settings::fits<Target>(at_most));
    const Shape shape{Shape::Kind::integer, at_least, at_most};
    return {key, shape, std::move(help),
            [=](Experiment& experiment, const Value& value) {
                access(experiment) = static_cast<Target>(whole_number(value, key, shape));
            },
            [=](const Experiment& experiment) { return nlohmann::ordered_json(access(experiment)); }};
}

template <class Access>
Field time(std::string key, std::string help, Access access) {
    const Shape shape{Shape::Kind::time};
    return {
        key, shape, std::move(help),
        [=](Experiment& experiment, const Value& value) {
            const std::string text = scalar_text(value, key, shape);
            located(key, value, [&] { access(experiment) = parse_time(text); });
        },
        [=](const Experiment& experiment) { return nlohmann::ordered_json(print_time(access(experiment))); }};
}

/// A quantity within the shape's bounds. Throws Error.
inline double quantity_in(const Value& value, const std::string& key, const Shape& shape,
                          double (*parse)(std::string_view), std::string (*print)(double)) {
    const std::string text = scalar_text(value, key, shape);
    double parsed = 0;
    located(key, value, [&] {
        parsed = parse(text);
        if (parsed < shape.at_least || parsed > shape.at_most) {
            throw Error(fmt::format("{} is out of range", value.described()),
                        fmt::format("expected {} to {}", print(shape.at_least), print(shape.at_most)));
        }
    });
    return parsed;
}

template <class Access>
Field quantity(std::string key, Shape::Kind kind, double (*parse)(std::string_view),
               std::string (*print)(double), double at_least, double at_most, std::string help,
               Access access) {
    using Target = std::decay_t<std::invoke_result_t<Access, Experiment&>>;
    if constexpr (std::is_integral_v<Target>)
        HEDDLE_ASSERT(Settings::fits<Target>(at_least) && Settings::fits<Target>(at_most));
    const Shape shape{kind, at_least, at_most};
    return {key, shape, std::move(help),
            [=](Experiment& experiment, const Value& value) {
                access(experiment) = static_cast<Target>(quantity_in(value, key, shape, parse, print));
            },
            [=](const Experiment& experiment) {
                return nlohmann::ordered_json(print(static_cast<double>(access(experiment))));
            }};
}

/// A choice by name: `get` and `set` convert.
template <class Get, class Set>
Field choice(std::string key, const std::vector<std::string>& choices, std::string help, Get get, Set set) {
    const Shape shape{Shape::Kind::choice, 0, 0, choices};
    return {key, shape, std::move(help),
            [=](Experiment& experiment, const Value& value) {
                const std::string text = scalar_text(value, key, shape);
                const auto found = std::find(choices.begin(), choices.end(), text);
                if (found == choices.end()) {
                    throw Error(fmt::format("{}: unknown value \"{}\"", key, text),
                                nearest_advice(text, choices), value.where);
                }
                set(experiment, text, static_cast<std::size_t>(found - choices.begin()));
            },
            [=](const Experiment& experiment) { return nlohmann::ordered_json(get(experiment)); }};
}

template <class Access>
Field integers(std::string key, std::string help, Access access) {
    using Item = typename std::decay_t<std::invoke_result_t<Access, Experiment&>>::value_type;
    const Shape shape{Shape::Kind::integers, 1, 4e9};
    HEDDLE_ASSERT(Settings::fits<Item>(shape.at_least) && Settings::fits<Item>(shape.at_most));
    return {key, shape, std::move(help),
            [=](Experiment& experiment, const Value& value) {
                if (value.kind != Value::Kind::list) {
                    throw Error(fmt::format("{}: expected a list, found {}", key, value.described()),
                                fmt::format("write it like `{}: [16, 4]`", key.substr(key.rfind('.') + 1)),
                                value.where);
                }
                auto& target = access(experiment);
                target.clear();
                for (const Value& item : value.children) {
                    target.push_back(static_cast<Item>(whole_number(item, key, shape)));
                }
            },
            [=](const Experiment& experiment) { return nlohmann::ordered_json(access(experiment)); }};
}

template <class Access>
Field text(std::string key, std::string help, Access access) {
    const Shape shape{Shape::Kind::text};
    return {key, shape, std::move(help),
            [=](Experiment& experiment, const Value& value) {
                access(experiment) = scalar_text(value, key, shape);
            },
            [=](const Experiment& experiment) { return nlohmann::ordered_json(access(experiment)); }};
}

/// A file, as the caller can open it.
template <class Access>
Field path(std::string key, std::string help, Access access) {
    const Shape shape{Shape::Kind::text};
    return {key, shape, std::move(help),
            [=](Experiment& experiment, const Value& value) {
                const std::string stated = scalar_text(value, key, shape);
                access(experiment) = path_from(stated, value.where);
                experiment.stated_paths[key] = stated;
            },
            [=](const Experiment& experiment) { return nlohmann::ordered_json(access(experiment)); }};
}

}  // namespace heddle::configs
