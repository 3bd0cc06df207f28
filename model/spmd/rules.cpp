// Reads files of rules, and finds the rule for a call.
#include "model/spmd/rules.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <set>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/settings.hpp"

namespace heddle::spmd {

namespace {

class RulesReader {
public:
    explicit RulesReader(const std::string& file) : file_(file) {}

    std::vector<Rule> read(const std::string& text) const {
        YAML::Node root;
        try {
            root = document(text);
        } catch (const YAML::Exception& error) {
            throw Error(error.msg, advice, {file_, error.mark.line + 1});
        }
        if (!root.IsMap()) throw Error("no operation with rules", advice, at(root));
        std::vector<Rule> rules;
        std::set<std::string> seen;
        for (const auto& entry : root) {
            const Operation operation = operation_of(entry.first, seen);
            if (!entry.second.IsSequence())
                throw Error(fmt::format("{} has no list of rules", name_of(operation)), advice,
                            at(entry.second));
            for (const YAML::Node& rule : entry.second) rules.push_back(read_rule(operation, rule));
        }
        return rules;
    }

private:
    static constexpr const char* advice =
        "write, as one of the lines below an operation: - {bytes: [0, 32768], nodes: [2, 64], threads: [1, "
        "8], "
        "algorithm: NAME}; ranges may be left out";

    /// The one of the text; null if it has none.
    YAML::Node document(const std::string& text) const {
        const std::vector<YAML::Node> all = YAML::LoadAll(text);
        if (all.size() > 1)
            throw Error("a second document begins here",
                        "rules are one document: remove the `---`, and state each operation once",
                        at(all[1]));
        return all.empty() ? YAML::Node() : all.front();
    }
    Location at(const YAML::Node& node) const { return {file_, node.Mark().line + 1}; }

    std::string text_of(const YAML::Node& node) const {
        if (!node.IsScalar()) throw Error("a name is expected here", advice, at(node));
        return node.Scalar();
    }
    std::string key_of(const YAML::Node& node, std::set<std::string>& seen) const {
        std::string key = text_of(node);
        if (!seen.insert(key).second)
            throw Error(fmt::format("\"{}\" is stated twice", key), "leave one of them out", at(node));
        return key;
    }
    Operation operation_of(const YAML::Node& node, std::set<std::string>& seen) const {
        const std::string key = key_of(node, seen);
        std::vector<std::string> known;
        for (const Operation operation : operations) {
            if (key == name_of(operation)) return operation;
            known.emplace_back(name_of(operation));
        }
        throw Error(fmt::format("unknown operation \"{}\"", key), nearest_advice(key, known), at(node));
    }
    Rule read_rule(Operation operation, const YAML::Node& node) const {
        if (!node.IsMap()) throw Error("this is no rule", advice, at(node));
        Rule rule{operation};
        std::set<std::string> seen;
        for (const auto& entry : node) {
            const std::string key = key_of(entry.first, seen);
            if (key == "algorithm") {
                rule.algorithm = algorithm_of(operation, entry.second);
            } else if (key == "bytes") {
                rule.bytes = range_of(entry.second);
            } else if (key == "nodes") {
                rule.nodes = range_of(entry.second);
            } else if (key == "threads") {
                rule.threads = range_of(entry.second);
            } else {
                throw Error(fmt::format("unknown key \"{}\"", key),
                            nearest_advice(key, {"algorithm", "bytes", "nodes", "threads"}), at(entry.first));
            }
        }
        if (!seen.contains("algorithm")) throw Error("a rule without an algorithm", advice, at(node));
        return rule;
    }
    const Algorithm* algorithm_of(Operation operation, const YAML::Node& node) const {
        const std::string name = text_of(node);
        try {
            if (name.empty()) throw Error("no algorithm", "write its name, or auto");
            return name == automatic ? nullptr : &find_algorithm(operation, name);
        } catch (const Error& error) {
            throw error.at(at(node));
        }
    }
    RuleRange range_of(const YAML::Node& node) const {
        if (!node.IsSequence() || node.size() != 2)
            throw Error("this is no range", "write [FIRST, LAST], both included", at(node));
        RuleRange range;
        try {
            range.first = static_cast<std::uint64_t>(parse_integer(text_of(node[0]), 0, integer_max));
            range.last = static_cast<std::uint64_t>(parse_integer(text_of(node[1]), 0, integer_max));
        } catch (const Error& error) {
            throw error.at(at(node));
        }
        if (range.last < range.first)
            throw Error("a range that ends before it begins", "write [FIRST, LAST], both included", at(node));
        return range;
    }

    const std::string& file_;
};

}  // namespace

Rules Rules::parse(const std::string& text, const std::string& file) {
    return Rules(RulesReader(file).read(text));
}

const Algorithm* Rules::find(const RuleCase& asked) const {
    for (const Rule& rule : rules_) {
        if (rule.operation != asked.operation || !rule.bytes.has(asked.bytes) ||
            !rule.nodes.has(asked.nodes) || !rule.threads.has(asked.threads))
            continue;
        if (rule.algorithm && rule.algorithm->commutes && !asked.commutes) continue;
        return rule.algorithm;
    }
    return nullptr;
}

}  // namespace heddle::spmd
