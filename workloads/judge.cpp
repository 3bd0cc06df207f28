// Compares an answer with the expected one, value by value, for all workloads.
#include <fmt/format.h>

#include <algorithm>

#include "workloads/workload.hpp"

namespace heddle::workloads {

Verdict judge(const runtime::Answer& answer, const runtime::Answer& expected, const std::string& source) {
    for (const auto& [name, value, how] : expected) {
        const auto found = std::find_if(answer.begin(), answer.end(),
                                        [&name = name](const auto& other) { return other.name == name; });
        if (found == answer.end()) {
            return {Verdict::Kind::wrong,
                    fmt::format("no {} in the answer; expected {} ({})", name, value, source)};
        }
        if (found->value != value) {
            return {Verdict::Kind::wrong,
                    fmt::format("{} is {}, expected {} ({})", name, found->value, value, source)};
        }
    }
    return {Verdict::Kind::right, source};
}

}  // namespace heddle::workloads
