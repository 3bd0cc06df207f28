// Reads lists and ranges of numbers, and makes a `compare` section of them.
#include "cli/tuning_grid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "base/printable.hpp"
#include "base/settings.hpp"
#include "base/units.hpp"
#include "cli/lists.hpp"

namespace heddle::cli {

namespace {

constexpr const char* values_advice = "write numbers and ranges such as 1,2,4 or 2..64 or 8..1MiB*4";

std::uint64_t grid_number(const std::string& text, GridUnit unit, double most) {
    if (unit == GridUnit::count) return static_cast<std::uint64_t>(parse_integer(text, 1, most));
    const double bytes = parse_bytes(text);
    if (!(bytes >= 0 && bytes <= most) || bytes != std::floor(bytes))
        throw Error(fmt::format("this is no whole number of bytes up to {}", print_bytes(most)));
    return static_cast<std::uint64_t>(bytes);
}

void add_part(const std::string& part, GridUnit unit, double most, std::set<std::uint64_t>& values) {
    const std::size_t dots = part.find("..");
    if (dots == std::string::npos) {
        values.insert(grid_number(part, unit, most));
        return;
    }
    const std::size_t star = std::min(part.find('*', dots), part.size());
    const std::uint64_t first = grid_number(part.substr(0, dots), unit, most);
    const std::uint64_t last = grid_number(part.substr(dots + 2, star - dots - 2), unit, most);
    constexpr double factor_most = 1 << 20;
    const std::uint64_t factor =
        star == part.size()
            ? 2
            : static_cast<std::uint64_t>(parse_integer(part.substr(star + 1), 2, factor_most));
    if (first == 0) throw Error("a range by factors cannot begin at 0");
    if (last < first) throw Error("a range that ends before it begins");
    for (std::uint64_t value = first; value <= last; value *= factor) values.insert(value);
}

}  // namespace

std::vector<std::uint64_t> grid_values(const std::string& option, const std::string& text, GridUnit unit,
                                       double most) {
    std::set<std::uint64_t> values;
    for (const std::string& part : comma_separated(text)) {
        try {
            add_part(part, unit, most, values);
        } catch (const Error& error) {
            throw Error(fmt::format("{} \"{}\": {}", option, excerpt(part), error.message()), values_advice);
        }
    }
    return {values.begin(), values.end()};
}

std::vector<spmd::Operation> grid_operations(const std::string& text) {
    std::vector<std::string> known;
    for (const spmd::Operation operation : spmd::operations) known.emplace_back(name_of(operation));
    const std::vector<std::string> named = text.empty() ? std::vector<std::string>{} : comma_separated(text);
    for (const std::string& name : named)
        if (std::ranges::find(known, name) == known.end())
            throw Error(fmt::format("--operations: there is no operation \"{}\"", excerpt(name)),
                        nearest_advice(name, known));
    std::vector<spmd::Operation> wanted;
    for (const spmd::Operation operation : spmd::operations) {
        const auto algorithms =
            std::ranges::count(spmd::all_algorithms(), operation, &spmd::Algorithm::operation);
        const bool is_named = std::ranges::find(named, name_of(operation)) != named.end();
        if (is_named || (named.empty() && algorithms > 1)) wanted.push_back(operation);
    }
    return wanted;
}

std::string compare_section(const TuningGrid& grid) {
    std::vector<std::string> operations;
    std::vector<std::string> algorithms;
    const auto add = [&](spmd::Operation operation, std::string_view algorithm) {
        operations.emplace_back(name_of(operation));
        algorithms.emplace_back(algorithm);
    };
    for (const spmd::Operation operation : grid.operations) {
        for (const spmd::Algorithm& algorithm : spmd::all_algorithms())
            if (algorithm.operation == operation && (grid.levels || algorithm.levels == 1))
                add(operation, algorithm.name);
        add(operation, spmd::automatic);
    }
    return fmt::format(
        "{{platform.nodes: [{}], platform.cores: [{}], workload.bytes: [{}], "
        "zip: {{workload.operation: [{}], workload.algorithm: [{}]}}}}",
        fmt::join(grid.nodes, ", "), fmt::join(grid.threads, ", "), fmt::join(grid.bytes, ", "),
        fmt::join(operations, ", "), fmt::join(algorithms, ", "));
}

}  // namespace heddle::cli
