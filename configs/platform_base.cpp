// Merges a platform file's YAML tree into that of an experiment, where the experiment's own keys win. Also
// replaces shorthands by the keys that they stand for.
#include "configs/platform_base.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/paths.hpp"
#include "configs/experiment.hpp"
#include "configs/fields.hpp"

namespace heddle::configs {

namespace {

constexpr const char* from_key = "platform.from";
constexpr const char* form =
    "it has `platform: {...}`, and beside it `calibration` of `heddle calibrate` and nothing else; or the "
    "keys of a platform alone";

/// The keys of a platform in the file's document.
Value platform_of(Value document) {
    Value* const section = document.find("platform");
    if (section == nullptr) return document;
    for (const Value& entry : document.children) {
        if (entry.key == "platform" || entry.key == "calibration") continue;
        throw Error(fmt::format("unknown key \"{}\" in a file that {} names", entry.key, from_key), form,
                    entry.key_where);
    }
    if (section->kind != Value::Kind::mapping) {
        throw Error(fmt::format("platform: expected keys with values, found {}", section->described()), form,
                    section->where);
    }
    return std::move(*section);
}

void fill_in(Value& stated, Value base) {
    for (Value& entry : base.children) {
        Value* const own = stated.find(entry.key);
        if (own == nullptr) {
            stated.children.push_back(std::move(entry));
        } else if (own->kind == Value::Kind::mapping && entry.kind == Value::Kind::mapping) {
            fill_in(*own, std::move(entry));
        }
    }
}

/// Costs by the byte that are stated hold for all sizes, so the base's by size do not.
void drop_replaced(const Value& stated, Value& base) {
    const Value* const own = stated.find("overheads");
    Value* const others = base.find("overheads");
    if (own == nullptr || others == nullptr) return;
    if (own->find("message_send_kib") == nullptr && own->find("message_receive_kib") == nullptr) return;
    std::erase_if(others->children, [](const Value& entry) { return entry.key == "message_bytes"; });
}

/// The names in the base's list of kernels, whose values are read elsewhere.
std::vector<std::string> kernels_in(const Value& base) {
    std::vector<std::string> names;
    const Value* const kernels = base.find("kernels");
    if (kernels == nullptr) return names;
    for (const Value& one : kernels->children)
        if (const Value* const name = one.find("kernel")) names.push_back(name->text);
    return names;
}

Value scalar_value(const std::string& key, const std::string& text, const Location& where) {
    Value value;
    value.kind = Value::Kind::scalar;
    value.text = text;
    value.where = where;
    value.key = key;
    value.key_where = where;
    return value;
}

bool is_none(const Value* value) {
    return value != nullptr && value->kind == Value::Kind::scalar && value->text == "none";
}

}  // namespace

bool is_shorthand(const std::string& key, const Value& value) {
    return (key == "schedule.stealing" || key == "platform.overheads") && is_none(&value);
}

void expand_shorthands(Value& root) {
    const auto into_mapping = [](Value& value, const std::vector<std::string>& keys,
                                 const std::string& text) {
        const Location where = value.where;
        value.kind = Value::Kind::mapping;
        value.text.clear();
        for (const std::string& key : keys) value.children.push_back(scalar_value(key, text, where));
    };
    if (Value* schedule = root.find("schedule")) {
        if (Value* stealing = schedule->find("stealing"); is_none(stealing))
            into_mapping(*stealing, {"victim"}, "none");
    }
    if (Value* platform = root.find("platform")) {
        if (Value* overheads = platform->find("overheads"); is_none(overheads)) {
            std::vector<std::string> keys;
            for (const auto& [key, time] : overheads_by_name({})) keys.push_back(key);
            into_mapping(*overheads, keys, "0");
        }
    }
}

std::vector<std::string> add_platform_base(Value& root) {
    Value* const platform = root.find("platform");
    if (platform == nullptr || platform->kind != Value::Kind::mapping) return {};
    const Value* const from = platform->find("from");
    if (from == nullptr) return {};
    const std::string path = path_from(scalar_text(*from, from_key, {Shape::Kind::text}), from->where);
    std::string text;
    try {
        text = read_text_file(path);
    } catch (const Error& error) {
        throw Error(fmt::format("{}: {}: {}", from_key, path, error.message()), error.advice(), from->where);
    }
    Value whole;
    whole.kind = Value::Kind::mapping;
    whole.children.push_back(platform_of(parse_document(text, path, "`platform: {nodes: 16}`")));
    Value& base = whole.children.front();
    base.key = "platform";
    if (const Value* const further = base.find("from")) {
        throw Error(fmt::format("a file that {} names builds on another one", from_key),
                    "write the values of that file here, and leave `from` out", further->key_where);
    }
    expand_shorthands(whole);
    std::vector<std::string> kernels = kernels_in(base);
    drop_replaced(*platform, base);
    fill_in(*platform, std::move(base));
    return kernels;
}

}  // namespace heddle::configs
