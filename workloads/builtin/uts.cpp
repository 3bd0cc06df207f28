// uts: the Unbalanced Tree Search benchmark, with a task for each tree node. A node's children are known only
// when its task runs, and no part of the tree predicts the size of another. Trees and known counts are the
// benchmark's (see uts_tree.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "model/fork_join.hpp"
#include "workloads/unrolled.hpp"
#include "workloads/uts_tree.hpp"
#include "workloads/work_kinds.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

namespace {

using model::Strand;

constexpr std::int32_t never_cut = std::numeric_limits<std::int32_t>::max();

struct UtsSettings {
    UtsTree tree;
    std::int32_t cutoff = never_cut;  ///< sequential from this depth down
    double unit_cost = 0;
    std::string check;
};

/// The sequential search below a node with children. A leaf, as most nodes are, is done in its parent's
/// frame. Not inlined: tasks rarely call it, and need the registers.
[[gnu::noinline]] UtsCount search_below(const UtsTree& tree, const UtsNode& node, std::int32_t children) {
    std::uint64_t nodes = 1;
    std::uint64_t leaves = 0;
    std::int64_t depth = node.depth;
    for (std::int32_t i = 0; i < children; ++i) {
        const UtsNode child = UtsTree::child(node, i);
        const std::int32_t grandchildren = tree.children(child);
        const UtsCount below =
            grandchildren == 0 ? UtsCount{1, 1, child.depth} : search_below(tree, child, grandchildren);
        nodes += below.nodes;
        leaves += below.leaves;
        depth = std::max(depth, below.depth);
    }
    return {nodes, leaves, depth};
}

UtsCount search(const UtsTree& tree, const UtsNode& node) {
    const std::int32_t children = tree.children(node);
    return children == 0 ? UtsCount{1, 1, node.depth} : search_below(tree, node, children);
}

/// The search below a node with children, which forks tasks of `Task`. Apart from the task, so that a leaf,
/// as most nodes are, is done where it is joined: in its parent's frame, without a call. The compiler would
/// put them together the other way round.
template <class Task>
[[gnu::noinline]] UtsCount search_below(Strand strand, const UtsNode& in_place, std::int32_t children) {
    const UtsNode node = in_place;
    const UtsSettings& settings = Task::settings(strand);
    if (node.depth >= settings.cutoff) {
        const UtsCount count = search(settings.tree, node);
        strand.work(count.nodes - 1);
        return count;
    }
    for (std::int32_t i = 0; i < children; ++i) strand.fork<Task>([&] { return UtsTree::child(node, i); });
    // In variables of their own: in registers, where the value to return would be in memory.
    std::uint64_t nodes = 1;
    std::uint64_t leaves = 0;
    std::int64_t depth = node.depth;
    strand.join_all<Task>(children, [&](const UtsCount& below) {
        nodes += below.nodes;
        leaves += below.leaves;
        depth = std::max(depth, below.depth);
    });
    return {nodes, leaves, depth};
}

/// A node's task.
template <class Task>
[[gnu::always_inline]] inline UtsCount search_with(Strand strand, const UtsNode& node) {
    const std::int32_t children = Task::settings(strand).tree.children(node);
    if (children == 0) return {1, 1, node.depth};
    return search_below<Task>(strand, node, children);
}

struct Uts {
    static constexpr auto name = "uts";
    static constexpr bool in_place = true;
    static constexpr std::uint64_t work_units = 1;
    static const UtsSettings& settings(Strand strand);
    static UtsCount run(Strand strand, const UtsNode& node) { return search_with<Uts>(strand, node); }
};

/// The same task below a placed one: another program holds the settings.
struct PlacedUts {
    static constexpr auto name = "placed_uts";
    static constexpr bool in_place = true;
    static constexpr std::uint64_t work_units = 1;
    static const UtsSettings& settings(Strand strand);
    static UtsCount run(Strand strand, const UtsNode& node) { return search_with<PlacedUts>(strand, node); }
};

runtime::Answer answer_of(const UtsCount& count) {
    return {{"nodes", static_cast<double>(count.nodes)},
            {"depth", static_cast<double>(count.depth), runtime::AnswerValue::Combine::max},
            {"leaves", static_cast<double>(count.leaves)}};
}

struct UtsSpawns {
    using Arguments = UtsNode;
    using Count = UtsCount;

    UtsSettings settings;
    std::vector<double> expected_nodes = settings.tree.expected_nodes();

    UtsNode root() const { return settings.tree.root(); }
    void children(const UtsNode& node, std::vector<UtsNode>& into) const {
        if (node.depth >= settings.cutoff) return;
        const std::int32_t children = settings.tree.children(node);
        for (std::int32_t i = 0; i < children; ++i) into.push_back(UtsTree::child(node, i));
    }
    /// An estimate: the number of a node's children is known, the sizes of the subtrees below them only by
    /// expectation.
    double weight(const UtsNode& node) const {
        const std::size_t below =
            std::min(static_cast<std::size_t>(node.depth) + 1, expected_nodes.size() - 1);
        return 1 + settings.tree.children(node) * expected_nodes[below];
    }
    UtsCount visit(const UtsNode& node) const { return {1, 0, node.depth}; }
    UtsCount run(Strand strand, const UtsNode& node) const { return strand.call<PlacedUts>(node); }
    runtime::Answer answer(const UtsCount& count) const { return answer_of(count); }
    std::size_t argument_bytes() const { return model::TaskFunction<PlacedUts>::type.arguments_bytes(); }
    double unit_flops() const { return settings.unit_cost; }
};

using PlacedUtsProgram = UnrolledProgram<UtsSpawns>;

class UtsProgram final : public model::ForkJoinProgram {
public:
    explicit UtsProgram(const UtsSettings& settings) : settings_(settings) {}

    const UtsSettings& settings() const { return settings_; }
    /// The sequential search is as deep as the tree.
    runtime::Work unit() const override { return {settings_.unit_cost, 0}; }
    void root(Strand strand) override { answer_ = answer_of(strand.call<Uts>(settings_.tree.root())); }
    runtime::Answer answer() const override { return answer_; }

private:
    UtsSettings settings_;
    runtime::Answer answer_;
};

inline const UtsSettings& Uts::settings(Strand strand) {
    return strand.program<UtsProgram>().settings();
}

inline const UtsSettings& PlacedUts::settings(Strand strand) {
    return strand.program<PlacedUtsProgram>().tree().settings;
}

/// The benchmark's sample trees with the counts that its list of sample trees publishes. T3L expects 1.00007
/// children of a node, and ends because of its root's seed; nothing is known of other seeds.
struct Sample {
    const char* name;
    UtsTree tree;
    UtsCount count;
};

constexpr auto binomial = UtsTree::Type::binomial;
constexpr auto geometric = UtsTree::Type::geometric;
constexpr auto hybrid = UtsTree::Type::hybrid;
constexpr auto linear = UtsTree::Shape::linear;
constexpr auto cyclic = UtsTree::Shape::cyclic;
constexpr auto fixed = UtsTree::Shape::fixed;

constexpr Sample samples[] = {
    {"T1", {geometric, fixed, 4, 10, 19}, {4130071, 3305118, 10}},
    {"T2", {geometric, cyclic, 6, 16, 502}, {4117769, 2342762, 81}},
    {"T3", {binomial, linear, 2000, 6, 42, 0.124875, 8}, {4112897, 3599034, 1572}},
    {"T4", {hybrid, linear, 6, 16, 1, 0.234375, 4}, {4132453, 3108986, 134}},
    {"T5", {geometric, linear, 4, 20, 34}, {4147582, 2181318, 20}},
    {"T1L", {geometric, fixed, 4, 13, 29}, {102181082, 81746377, 13}},
    {"T3L", {binomial, linear, 2000, 6, 7, 0.200014, 5}, {111345631, 89076904, 17844}},
    {"T1XL", {geometric, fixed, 4, 15, 29}, {1635119272, 1308100063, 15}},
};

/// Compares what trees of their type use.
bool same(const UtsTree& a, const UtsTree& b) {
    const bool geometric_part = a.shape == b.shape && a.depth == b.depth;
    const bool binomial_part =
        a.non_leaf_probability == b.non_leaf_probability && a.non_leaf_children == b.non_leaf_children;
    if (a.type != b.type || a.root_branching != b.root_branching || a.seed != b.seed) return false;
    if (a.type == geometric) return geometric_part;
    if (a.type == binomial) return binomial_part;
    return geometric_part && binomial_part && a.shift == b.shift;
}

/// Null if `tree` is none of them.
const Sample* sample_of(const UtsTree& tree) {
    const auto* const found = std::find_if(std::begin(samples), std::end(samples),
                                           [&](const Sample& sample) { return same(sample.tree, tree); });
    return found == std::end(samples) ? nullptr : found;
}

/// T1 cut at other depths: nodes for d = 3 to 9, of the official program.
constexpr double t1_at_depth[] = {254, 944, 3987, 16000, 63914, 257042, 1031269};

/// Up to this many nodes an answer without a published count is checked by a sequential search.
constexpr double recount_limit = 20e6;

class UtsWorkload final : public Workload {
public:
    explicit UtsWorkload(const Settings& settings) : stated_(settings) {
        const std::string name = settings.text("tree");
        UtsTree& tree = settings_.tree;
        tree = samples[0].tree;  // also where a custom tree begins
        for (const Sample& sample : samples) {
            if (name == sample.name) tree = sample.tree;
        }
        const auto take = [&](const char* key, auto& value) {
            if (!settings.stated(key)) return;
            using Target = std::decay_t<decltype(value)>;
            if constexpr (std::is_integral_v<Target>)
                value = settings.integer<Target>(key);
            else
                value = settings.number(key);
        };
        if (settings.stated("type")) tree.type = type_of(settings.text("type"));
        if (settings.stated("shape")) tree.shape = shape_of(settings.text("shape"));
        take("branching", tree.root_branching);
        take("depth", tree.depth);
        take("root_seed", tree.seed);
        take("probability", tree.non_leaf_probability);
        take("children", tree.non_leaf_children);
        take("shift", tree.shift);
        if (const auto depth = settings.integer<std::int32_t>("cutoff"); depth > 0) settings_.cutoff = depth;
        settings_.unit_cost = settings.number("unit_cost");
        settings_.check = settings.text("check");
        // A binomial tree is finite, with probability one, only where a node expects fewer than one child.
        const bool may_not_end =
            tree.type != geometric && tree.non_leaf_probability * tree.non_leaf_children >= 1;
        if (may_not_end && sample_of(tree) == nullptr) {
            throw Error(fmt::format("this tree may not end: {} children with probability {}",
                                    tree.non_leaf_children, tree.non_leaf_probability),
                        "children times probability must be below 1, except in the sample tree T3L",
                        settings.where("probability"));
        }
    }

    void prepare(const ClusterView& cluster, const runtime::Schedule& schedule) override {
        unrolled_ = unroll(UtsSpawns{.settings = settings_}, stated_, cluster, schedule);
    }

    Forecast forecast() const override { return unrolled_ ? unrolled_->forecast() : Forecast{}; }

    std::optional<TaskLabel> label(std::uint64_t task) const override {
        return unrolled_ ? label_of(unrolled_->plan(), task, "uts") : std::nullopt;
    }

    std::unique_ptr<runtime::Program> program(NodeId node) const override {
        if (unrolled_) return std::make_unique<PlacedUtsProgram>(*unrolled_, node);
        return std::make_unique<UtsProgram>(settings_);
    }

    Verdict check(const runtime::RunResult& result) const override {
        const runtime::Answer& answer = result.answer;
        if (settings_.check == "none") return {Verdict::Kind::unchecked, "check is none"};
        if (settings_.check == "auto") {
            if (const runtime::Answer known = published(); !known.empty()) {
                return judge(answer, known, "counts of the official UTS program");
            }
            if (!answer.empty() && answer[0].value > recount_limit) {
                return {Verdict::Kind::unchecked,
                        "no published count; set workload.check: sequential to recount"};
            }
        }
        const UtsCount count = search(settings_.tree, settings_.tree.root());
        return judge(answer,
                     {{"nodes", static_cast<double>(count.nodes)},
                      {"depth", static_cast<double>(count.depth)},
                      {"leaves", static_cast<double>(count.leaves)}},
                     "a sequential search");
    }

    std::vector<const runtime::TaskType*> tasks() const override {
        return {&model::TaskFunction<Uts>::type, &model::TaskFunction<PlacedUts>::type};
    }

private:
    static UtsTree::Type type_of(const std::string& text) {
        return text == "binomial" ? binomial : text == "hybrid" ? hybrid : geometric;
    }
    static UtsTree::Shape shape_of(const std::string& text) {
        if (text == "linear") return linear;
        if (text == "exponential") return UtsTree::Shape::exponential;
        return text == "cyclic" ? cyclic : fixed;
    }

    /// The published counts for this tree; empty where there are none.
    runtime::Answer published() const {
        UtsTree tree = settings_.tree;
        if (const Sample* sample = sample_of(tree)) {
            return {{"nodes", static_cast<double>(sample->count.nodes)},
                    {"depth", static_cast<double>(sample->count.depth)},
                    {"leaves", static_cast<double>(sample->count.leaves)}};
        }
        const std::int32_t depth = std::exchange(tree.depth, samples[0].tree.depth);
        if (same(samples[0].tree, tree) && depth >= 3 && depth <= 9) {
            return {{"nodes", t1_at_depth[depth - 3]}, {"depth", static_cast<double>(depth)}};
        }
        return {};
    }

    Settings stated_;
    UtsSettings settings_;
    std::unique_ptr<const Unrolled<UtsSpawns>> unrolled_;
};

const KernelRegistration kernel{{"uts.node",
                                 {{0,
                                   [] {
                                       UtsTree tree = samples[0].tree;
                                       tree.depth = 5;
                                       return Kernel::Code{800.0 * t1_at_depth[5 - 3], [tree] {
                                                               [[maybe_unused]] volatile std::uint64_t nodes =
                                                                   search(tree, tree.root()).nodes;
                                                           }};
                                   }}}},
                                {"uts"}};

const Registration registration{
    {"uts",
     "Unbalanced Tree Search: counts the nodes of a tree that no partitioner knows in advance",
     {{"tree",
       SettingKind::choice,
       "T1",
       "one of the benchmark's sample trees, or custom; settings stated below change it",
       {"T1", "T2", "T3", "T4", "T5", "T1L", "T3L", "T1XL", "custom"}},
      {"type", SettingKind::choice, "", "law of the number of children", {"geometric", "binomial", "hybrid"}},
      {"shape",
       SettingKind::choice,
       "",
       "geometric: how branching falls with depth",
       {"linear", "exponential", "cyclic", "fixed"}},
      {"branching", SettingKind::number, "", "expected children of the root (the benchmark's b)", {}, 1, 1e6},
      {"depth", SettingKind::integer, "", "depth at which a geometric tree ends (d)", {}, 1, 1e5},
      {"root_seed", SettingKind::integer, "", "seed of the root (r)", {}, 0, 2147483647},
      {"probability", SettingKind::number, "", "binomial: that a node has children (q)", {}, 0, 1},
      {"children",
       SettingKind::integer,
       "",
       "binomial: how many it then has (m)",
       {},
       1,
       UtsTree::children_max},
      {"shift", SettingKind::number, "", "hybrid: geometric above this share of the depth (f)", {}, 0, 1},
      {"cutoff", SettingKind::integer, "0", "sequential from this depth down; 0: never", {}, 0, 1e6},
      {"unit_cost",
       SettingKind::flops,
       "800f",
       "cost of one tree node where work is charged (800 flop: 80 ns at 10 Gf/s)",
       {},
       0,
       flops_max},
      {"check",
       SettingKind::choice,
       "auto",
       "what the answer is compared with: published counts or a sequential search",
       {"auto", "sequential", "none"}},
      UnrollLimits::setting()},
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<UtsWorkload>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
