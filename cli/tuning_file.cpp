// Writes the rules that `heddle tune` found as YAML, the measured times as CSV, and both as a table for
// people.
#include "cli/tuning_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/units.hpp"
#include "cli/text_table.hpp"
#include "results/statistics.hpp"

namespace heddle::cli {

namespace {

std::string size_of(const TunedCall& call) {
    return print_bytes(static_cast<double>(call.bytes));
}

std::string percent(double part) {
    return fmt::format("{:+.1f}%", 100 * part);
}

/// `8B 12.3 us (ring 14.1 us)`.
std::string times_of(const TunedCall& call) {
    const auto next = call.runner_up();
    return fmt::format("{} {} ({})", size_of(call), show_seconds(call.chosen().median()),
                       next ? fmt::format("{} {}", call.algorithms[*next].algorithm,
                                          show_seconds(call.algorithms[*next].median()))
                            : "no other");
}

std::string range_of(const spmd::RuleRange& range) {
    return fmt::format("[{}, {}]", range.first, range.last);
}

}  // namespace

std::string rules_yaml(const std::vector<TunedCall>& calls, const std::vector<std::string>& head) {
    std::string text;
    for (const std::string& line : head) text += fmt::format("# {}\n", line);
    std::optional<spmd::Operation> operation;
    for (const TunedRule& tuned : rules_of(calls)) {
        const spmd::Rule& rule = tuned.rule;
        if (operation != rule.operation) text += fmt::format("{}:\n", name_of(rule.operation));
        operation = rule.operation;
        text += fmt::format("  - {{bytes: {}, nodes: {}, threads: {}, algorithm: {}}}  # {}",
                            range_of(rule.bytes), range_of(rule.nodes), range_of(rule.threads),
                            rule.algorithm->name, times_of(calls[tuned.first]));
        if (tuned.last != tuned.first) text += ", " + times_of(calls[tuned.last]);
        text += "\n";
    }
    return text;
}

std::string tuning_csv(const std::vector<TunedCall>& calls) {
    std::string text = "operation,nodes,threads,bytes,algorithm,ran,run,seconds\n";
    const auto add = [&text](const TunedCall& call, const TunedRuns& runs) {
        const std::string begin = fmt::format("{},{},{},{},{},{}", name_of(call.operation), call.nodes,
                                              call.threads, call.bytes, runs.algorithm, runs.ran);
        if (!runs.measured()) text += begin + ",,\n";
        for (std::size_t i = 0; i < runs.seconds.size(); ++i)
            text += fmt::format("{},{},{}\n", begin, i + 1, runs.seconds[i]);
    };
    for (const TunedCall& call : calls) {
        for (const TunedRuns& runs : call.algorithms) add(call, runs);
        add(call, call.automatic);
    }
    return text;
}

std::string tuning_table(const std::vector<TunedCall>& calls) {
    std::vector<std::vector<std::string>> rows = {
        {"operation", "nodes", "threads", "bytes", "winner", "time", "next", "slower", "auto", "costs"}};
    for (const TunedCall& call : calls) {
        const auto next = call.runner_up();
        const TunedRuns* const second = next ? &call.algorithms[*next] : nullptr;
        const auto loss = loss_of_automatic(call);
        rows.push_back({name_of(call.operation), std::to_string(call.nodes), std::to_string(call.threads),
                        size_of(call), call.chosen().algorithm, show_seconds(call.chosen().median()),
                        second ? second->algorithm : "-",
                        second ? percent(how_much_longer(second->median(), call.chosen().median())) : "-",
                        loss ? call.automatic.ran : "-", loss ? percent(*loss) : "-"});
    }
    return columns(rows, 1);
}

std::string automatic_in_words(const std::vector<TunedCall>& calls) {
    constexpr double near = 0.1;
    std::vector<double> losses;
    std::size_t count = 0;
    const TunedCall* worst = nullptr;
    for (const TunedCall& call : calls) {
        const auto loss = loss_of_automatic(call);
        if (!loss) continue;
        if (losses.empty() || *loss > *std::ranges::max_element(losses)) worst = &call;
        losses.push_back(*loss);
        if (*loss <= near || automatic_ties(call)) ++count;
    }
    if (!worst) return {};
    return fmt::format(
        "auto: within 10% of the best, or tied with it, in {} of {} calls; median {}, worst {} ({})", count,
        losses.size(), percent(results::median(losses)), percent(*std::ranges::max_element(losses)),
        described(*worst));
}

std::string described(const TunedCall& call) {
    return fmt::format("{} of {} on {} x {}", name_of(call.operation), size_of(call), call.nodes,
                       call.threads);
}

void refuse_contradictions(const std::vector<TunedCall>& calls) {
    for (const TunedCall& call : calls) {
        for (const TunedRuns& runs : call.algorithms) {
            if (runs.measured() || !call.automatic.measured() || call.automatic.ran != runs.algorithm)
                continue;
            throw Error(fmt::format("{} was refused by {}, which auto ran: {}", described(call),
                                    runs.algorithm, runs.refusal),
                        "no rules were written; the same command goes on from here");
        }
    }
}

}  // namespace heddle::cli
