// collective: all ranks make the same collective call again and again (the patterns of the Intel MPI
// Benchmarks' collectives), and check each answer.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/input_file.hpp"
#include "base/memory_need.hpp"
#include "base/time.hpp"
#include "model/spmd.hpp"
#include "workloads/spmd_settings.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

namespace {

using spmd::Index;
using spmd::Operation;
using spmd::RankId;
using spmd::Spmd;

using Element = std::uint64_t;

/// Every operation, and one that is not between ranks alone.
constexpr const char* to_a_value = "all_reduce_array";

struct Pattern {
    Operation operation;
    bool to_value;  ///< all elements of all arrays are combined to one
    Index count;    ///< elements of an array, or of a block
    std::uint64_t repeats;
    bool declared;  ///< data have no memory
    bool split_phase;
    double work;           ///< flops of each thread beside a call
    std::uint64_t pieces;  ///< of the work
};

/// Of a rank's arrays, whose blocks have `count` elements.
struct Sizes {
    Index input;
    Index output;
};

/// What rank `rank` gives at place `i` in call `call`. Its sum over ranks is known.
Element given(RankId rank, Index i, std::uint64_t call) {
    return (Element{rank} + 1) * (i + 1) + call;
}
/// The sum of ranks 0 to last.
Element sum(RankId last, Index i, std::uint64_t call) {
    const Element ranks = Element{last} + 1;
    return ranks * (ranks + 1) / 2 * (i + 1) + ranks * call;
}

/// Blocks, or arrays, of a rank that has the most: the root.
Index blocks_in(Operation operation, RankId ranks) {
    switch (operation) {
        case Operation::barrier:
        case Operation::broadcast:
            return 0;
        case Operation::scatter:
        case Operation::reduce_scatter:
        case Operation::all_to_all:
            return ranks;
        default:
            return 1;
    }
}
Index blocks_out(Operation operation, RankId ranks) {
    switch (operation) {
        case Operation::barrier:
            return 0;
        case Operation::gather:
        case Operation::all_gather:
        case Operation::all_to_all:
            return ranks;
        default:
            return 1;
    }
}

Sizes sizes_of(const Pattern& pattern, RankId ranks, bool at_root) {
    const Operation operation = pattern.operation;
    const bool only_root_gives = operation == Operation::scatter;
    const bool only_root_gets = operation == Operation::reduce || operation == Operation::gather;
    return {at_root || !only_root_gives ? blocks_in(operation, ranks) * pattern.count : 0,
            at_root || !only_root_gets ? blocks_out(operation, ranks) * (pattern.to_value ? 1 : pattern.count)
                                       : 0};
}

/// One call's arrays at a rank: what goes in, and what must come out.
class Arrays {
public:
    Arrays(const Pattern& pattern, RankId rank, RankId ranks, RankId root)
        : operation_(pattern.operation),
          to_value_(pattern.to_value),
          n_(pattern.count),
          rank_(rank),
          ranks_(ranks),
          root_(root) {
        const Sizes sizes = sizes_of(pattern, ranks, rank == root);
        input.resize(sizes.input);
        output.resize(sizes.output);
    }

    void fill(std::uint64_t call) {
        const bool in_output = operation_ == Operation::broadcast && rank_ == root_;
        for (Index i = 0; i < input.size(); ++i) input[i] = given(rank_, i, call);
        for (Index i = 0; i < output.size(); ++i) output[i] = in_output ? given(rank_, i, call) : 0;
    }
    std::uint64_t wrong(std::uint64_t call) const {
        std::uint64_t count = 0;
        if (to_value_) {
            Element all = 0;
            for (Index i = 0; i < n_; ++i) all += sum(ranks_ - 1, i, call);
            return output[0] == all ? 0 : 1;
        }
        for (Index i = 0; i < output.size(); ++i)
            if (output[i] != expected(i, call)) ++count;
        return count;
    }

    std::vector<Element> input;
    std::vector<Element> output;

private:
    Element expected(Index i, std::uint64_t call) const {
        switch (operation_) {
            case Operation::barrier:
                return 0;
            case Operation::broadcast:
                return given(root_, i, call);
            case Operation::reduce:
            case Operation::all_reduce:
                return sum(ranks_ - 1, i, call);
            case Operation::reduce_scatter:
                return sum(ranks_ - 1, rank_ * n_ + i, call);
            case Operation::scan:
                return sum(rank_, i, call);
            case Operation::scatter:
                return given(root_, rank_ * n_ + i, call);
            case Operation::gather:
            case Operation::all_gather:
                return given(static_cast<RankId>(i / n_), i % n_, call);
            case Operation::all_to_all:
                return given(static_cast<RankId>(i / n_), rank_ * n_ + i % n_, call);
        }
        return 0;
    }

    Operation operation_;
    bool to_value_;
    Index n_;
    RankId rank_;
    RankId ranks_;
    RankId root_;
};

/// `self`: a thread, or `start()` of it.
template <class Self, class Data>
auto make_call(Self&& self, Operation operation, Data& input, Data& output, RankId root) {
    const std::plus<Element> add;
    switch (operation) {
        case Operation::barrier:
            return self.barrier();
        case Operation::broadcast:
            return self.broadcast(output, root);
        case Operation::reduce:
            return self.reduce(add, input, output, root);
        case Operation::all_reduce:
            return self.all_reduce(add, input, output);
        case Operation::reduce_scatter:
            return self.reduce_scatter(add, input, output);
        case Operation::scan:
            return self.scan(add, input, output);
        case Operation::gather:
            return self.gather(input, output, root);
        case Operation::scatter:
            return self.scatter(input, output, root);
        case Operation::all_gather:
            return self.all_gather(input, output);
        case Operation::all_to_all:
            break;
    }
    return self.all_to_all(input, output);
}

class CollectiveProgram final : public spmd::SpmdProgram {
public:
    CollectiveProgram(spmd::SpmdOptions options, const Pattern& pattern)
        : SpmdProgram(std::move(options)), pattern_(pattern) {}

    void set_up(runtime::Node& node) override {
        SpmdProgram::set_up(node);
        of_thread_.resize(node.topology().cores);
    }

    // The first call is not measured. Roots take turns, as in the Intel MPI Benchmarks.
    void main(Spmd& self) override {
        const bool alone = self.ranks() != self.nodes();
        const bool leads = alone || self.thread_rank() == 0;
        Result& mine = of_thread_[self.thread_rank()];
        for (std::uint64_t call = 0; call <= pattern_.repeats; ++call) {
            const auto root = static_cast<RankId>(call % self.ranks());
            std::unique_ptr<Arrays>& arrays = of_thread_[alone ? self.thread_rank() : 0].arrays;
            if (leads) {
                undeclared(self, [&] {
                    if (pattern_.declared) return;
                    arrays.reset();  // the process has memory for one call's
                    arrays = std::make_unique<Arrays>(pattern_, self.rank(), self.ranks(), root);
                    arrays->fill(call);
                });
            }
            self.all_reduce_value(std::plus<>(), 0);  // all have their arrays
            const double begin = seconds_of(self);
            if (pattern_.to_value) {
                const Element all = self.all_reduce_array(std::plus<Element>(), arrays->input);
                if (leads) arrays->output[0] = all;
                work(self);
            } else if (pattern_.declared) {
                const Sizes sizes = sizes_of(pattern_, self.ranks(), self.rank() == root);
                const spmd::Declared<Element> input(sizes.input), output(sizes.output);
                call_and_work(self, input, output, root);
            } else {
                call_and_work(self, arrays->input, arrays->output, root);
            }
            const double end = seconds_of(self);
            if (!leads) continue;
            undeclared(self, [&] {
                if (arrays) mine.wrong += arrays->wrong(call);
            });
            if (call == 0) continue;
            ++mine.calls;
            mine.seconds += end - begin;
        }
    }

    runtime::Answer answer() const override {
        Result all;
        for (const Result& thread : of_thread_) {
            all.wrong += thread.wrong;
            all.calls = std::max(all.calls, thread.calls);
            all.seconds = std::max(all.seconds, thread.seconds);
        }
        const auto max = runtime::AnswerValue::Combine::max;
        return {{"calls", static_cast<double>(all.calls), max},
                {"wrong", static_cast<double>(all.wrong)},
                {"call_time", all.seconds / static_cast<double>(pattern_.repeats), max}};
    }

private:
    template <class Data>
    void call_and_work(Spmd& self, Data& input, Data& output, RankId root) const {
        if (!pattern_.split_phase) {
            make_call(self, pattern_.operation, input, output, root);
            return work(self);
        }
        spmd::SplitCall call = make_call(self.start(), pattern_.operation, input, output, root);
        work(self);
        call.wait();
    }
    /// Between its pieces a split-phase call goes on.
    void work(Spmd& self) const {
        if (pattern_.work == 0) return;
        for (std::uint64_t piece = 0; piece < pattern_.pieces; ++piece) {
            self.worker().compute({pattern_.work / static_cast<double>(pattern_.pieces), 0}, {});
            self.strand().yield();
        }
    }

    struct Result {
        std::uint64_t wrong = 0;
        std::uint64_t calls = 0;
        double seconds = 0;
        std::unique_ptr<Arrays> arrays;
    };

    Pattern pattern_;
    std::vector<Result> of_thread_;
};

std::vector<std::string> operation_names() {
    std::vector<std::string> names;
    for (const Operation operation : spmd::operations) names.emplace_back(name_of(operation));
    names.emplace_back(to_a_value);
    return names;
}

Operation operation_named(const std::string& name) {
    if (name == to_a_value) return Operation::all_reduce;
    return *std::ranges::find_if(spmd::operations, [&](Operation each) { return name_of(each) == name; });
}

class Collective final : public Workload {
public:
    explicit Collective(const Settings& settings)
        : pattern_{operation_named(settings.text("operation")),
                   settings.text("operation") == to_a_value,
                   (settings.integer<std::uint64_t>("bytes") + sizeof(Element) - 1) / sizeof(Element),
                   settings.integer<std::uint64_t>("repeats"),
                   settings.text("data") == "declared",
                   settings.boolean("split_phase"),
                   settings.number("work"),
                   settings.integer<std::uint64_t>("pieces")},
          total_bytes_(settings.integer<std::uint64_t>("total")),
          where_(settings.where(settings.stated("total")   ? "total"
                                : settings.stated("bytes") ? "bytes"
                                                           : "operation")) {
        options_ = spmd_options(settings);
        if (pattern_.to_value && pattern_.declared)
            throw Error(fmt::format("{} of data that are only declared", to_a_value),
                        "its value is that of elements: choose data: checked")
                .at(settings.where("data"));
        if (pattern_.to_value && pattern_.split_phase)
            throw Error(fmt::format("{} in two phases", to_a_value),
                        "its threads combine their parts themselves: choose another operation")
                .at(settings.where("split_phase"));
        options_.group = settings.integer<std::uint32_t>("group");
        const std::string named = settings.text("algorithm");
        try {
            if (named == spmd::automatic) {
                options_.algorithms[pattern_.operation] = named;
            } else if (named != "default" || !settings.stated("rules")) {
                options_.algorithms[pattern_.operation] =
                    find_algorithm(pattern_.operation, named == "default" ? "" : named).name;
            }
        } catch (const Error& error) {
            throw error.at(settings.where("algorithm"));
        }
        if (settings.stated("rules"))
            options_.rules = std::make_shared<spmd::Rules>(spmd::Rules::parse(
                read_input(settings.path("rules"), {.file_bytes = 1U << 20, .stream_bytes = 1U << 20}),
                settings.text("rules")));
    }

    void prepare(const ClusterView& cluster, const runtime::Schedule& /*schedule*/) override {
        const RankId ranks = ranks_of(options_, cluster);
        const Index inputs = blocks_in(pattern_.operation, ranks);
        if (total_bytes_ > 0)
            pattern_.count =
                std::max<Index>(1, total_bytes_ / sizeof(Element) / ranks / std::max<Index>(inputs, 1));
        expect_elements(cluster.grid.cores);
        if (pattern_.declared) return;
        const auto elements = [&](bool at_root) {
            const Sizes sizes = sizes_of(pattern_, ranks, at_root);
            return static_cast<double>(sizes.input) + static_cast<double>(sizes.output);
        };
        // Roots take turns, so each process has the root of some call.
        need_memory(
            (elements(true) + (ranks_here(options_, cluster) - 1) * elements(false)) * sizeof(Element),
            fmt::format("{} of {} elements by {} ranks", name_of(pattern_.operation), pattern_.count, ranks),
            "lower workload.bytes or workload.total");
    }

    std::unique_ptr<runtime::Program> program(NodeId /*node*/) const override {
        return std::make_unique<CollectiveProgram>(options_, pattern_);
    }

    Verdict check(const runtime::RunResult& result) const override {
        if (pattern_.declared)
            return judge(result.answer, {{"calls", static_cast<double>(pattern_.repeats)}},
                         "the number of calls; their data are only declared");
        return judge(result.answer, {{"calls", static_cast<double>(pattern_.repeats)}, {"wrong", 0}},
                     "each element of each call, whose value is known");
    }

    std::vector<const runtime::TaskType*> tasks() const override { return {}; }

private:
    /// Each thread combines its part of its rank's array to a value.
    void expect_elements(CoreId threads) const {
        const bool flat = options_.ranks == spmd::SpmdOptions::Ranks::threads;
        const Index least = flat ? 1 : threads;
        if (!pattern_.to_value || pattern_.count >= least) return;
        throw Error(fmt::format("{} of {} elements by {} threads", to_a_value, pattern_.count, least),
                    fmt::format("let workload.bytes be {} or more, so that each has an element{}",
                                least * sizeof(Element), flat ? "" : ", or let ranks be threads"),
                    where_)
            .as_refusal();
    }

    Pattern pattern_;
    std::uint64_t total_bytes_;  ///< of the inputs of all ranks; 0: the pattern says how much each has
    Location where_;             ///< of what says how much that is
    spmd::SpmdOptions options_;
};

const Registration registration{
    {"collective", "all ranks make the same collective call again and again: the time of a call",
     with_spmd_settings(
         {{"operation", SettingKind::choice, "all_reduce", "which call", operation_names()},
          {"algorithm", SettingKind::text, "default",
           "by which algorithm (heddle list collectives); auto: the one with the lowest price; default: as "
           "rules "
           "say, or the first"},
          {"rules", SettingKind::input_path, "",
           "a file that says which algorithm, by bytes, nodes and threads"},
          {"bytes",
           SettingKind::integer,
           "8",
           "bytes of an array, or of a block for each rank; in elements of 8 bytes",
           {},
           0,
           1e9},
          {"total",
           SettingKind::integer,
           "0",
           "bytes of the inputs of all ranks together, in place of bytes; 0: as bytes says",
           {},
           0,
           1e12},
          {"data",
           SettingKind::choice,
           "checked",
           "elements whose values are checked, or only declared ones: the same messages, no memory",
           {"checked", "declared"}},
          {"repeats",
           SettingKind::integer,
           "10",
           "calls that are measured, after one that is not",
           {},
           1,
           1e6},
          {"split_phase", SettingKind::boolean, "false",
           "calls are started, and go on while the threads do their work"},
          {"work",
           SettingKind::flops,
           "0f",
           "of each thread in each call: after it, or while it goes on if it is split-phase",
           {},
           0,
           flops_max},
          {"pieces",
           SettingKind::integer,
           "1",
           "pieces of that work, between which a thread lets a split-phase call go on",
           {},
           1,
           1e6},
          {"group",
           SettingKind::integer,
           "0",
           "so many ranks in a row are near each other, for algorithms with levels; 0: those of a node, or "
           "of a "
           "group of the network",
           {},
           0,
           1e6}}),
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<Collective>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
