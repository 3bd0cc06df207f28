// The table of all keys of an experiment file outside `workload` and `compare`. Reading, the resolved
// configuration and the JSON Schema use this one table, so they agree. Only files of configs/ include it.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "configs/experiment.hpp"

namespace heddle::configs {

/// What a value looks like.
struct Shape {
    enum class Kind : std::uint8_t {
        integer,
        number,
        text,
        boolean,
        choice,
        time,
        flops,
        bytes,
        bandwidth,
        bandwidths,  ///< one, or a list of them
        integers,
        factors,        ///< a list of numbers
        names,          ///< a list of texts
        events,         ///< of a platform
        kernels,        ///< of a platform
        message_bytes,  ///< of a platform
        networks        ///< of a platform
    };

    Kind kind = Kind::text;
    double at_least = 0;
    double at_most = 9e15;
    std::vector<std::string> choices = {};
};

struct Field {
    std::string key;  ///< dotted
    Shape shape;
    std::string help;
    std::function<void(Experiment&, const Value&)> read;
    std::function<nlohmann::ordered_json(const Experiment&)> show;
};

/// In the order in which the resolved configuration is written.
const std::vector<Field>& fields();

/// The field of that key, or null.
const Field* find_field(const std::string& key);

/// Whether keys begin with `prefix` and a dot.
bool is_section(const std::string& prefix);

/// The keys one level below a section (empty: the top level), with `workload` and `compare`.
std::vector<std::string> names_below(const std::string& section);

/// A workload's setting, as a shape.
Shape shape_of(const Setting& setting);

/// A setting's value in its one form: `1000ns` and `1us` are the same.
nlohmann::ordered_json shown_setting(const Settings& settings, const Setting& setting);

/// The text of a scalar that `key` takes, after its YAML type was checked. Throws Error for a list, for text
/// in quotes where a number belongs.
std::string scalar_text(const Value& value, const std::string& key, const Shape& shape);

/// A number within the shape's bounds. Throws Error.
double number_in(const Value& value, const std::string& key, const Shape& shape);

/// A time that is not negative. Throws Error.
Time time_in(const Value& value, const std::string& key);

/// A whole number within the shape's bounds. Throws Error.
std::int64_t whole_number(const Value& value, const std::string& key, const Shape& shape);

}  // namespace heddle::configs
