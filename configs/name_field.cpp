// Accepts an experiment's name only if a directory can have it: printable, no slash, not `.` or `..`.
#include "configs/name_field.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace heddle::configs {

namespace {

constexpr std::size_t length_max = 200;

bool is_file_name(const std::string& name) {
    const bool printable = std::none_of(name.begin(), name.end(), [](char c) {
        const auto code = static_cast<unsigned char>(c);
        return code < 0x20 || code == 0x7f;
    });
    return printable && !name.empty() && name.size() <= length_max && name != "." && name != ".." &&
           name.find('/') == std::string::npos;
}

}  // namespace

Field name_field() {
    const Shape shape{Shape::Kind::text};
    return {"name", shape, "what the experiment is called; by default the file's name",
            [shape](Experiment& experiment, const Value& value) {
                const std::string text = scalar_text(value, "name", shape);
                if (!is_file_name(text))
                    throw Error("name: this cannot be the name of a directory",
                                fmt::format("write 1 to {} printable characters without a slash", length_max),
                                value.where);
                experiment.name = text;
            },
            [](const Experiment& experiment) { return nlohmann::ordered_json(experiment.name); }};
}

}  // namespace heddle::configs
