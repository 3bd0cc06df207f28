// nas_is: the NAS Parallel Benchmark IS over shared memory (Bailey et al.: "The NAS Parallel Benchmarks",
// RNR-94-007, section 2.3.5). In each phase a filament handles a processor's part of the keys or of their
// values. Small integers are ranked ten times by counting, and at the end the ranks sort them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "model/dsm/ordered_copy.hpp"
#include "workloads/filaments.hpp"
#include "workloads/nas_random.hpp"

namespace heddle::workloads {

namespace {

using namespace filaments;
using Number = std::uint32_t;  ///< keys, counts and ranks

constexpr std::uint64_t iterations = 10;
constexpr std::size_t tests = 5;

/// A size of the problem, and its published ranks: key `test_keys[t]` has rank `test_ranks[t]`, which in
/// iteration i is i - rising_from higher for the first `rising` keys, and i - falling_from lower for the
/// rest.
struct IsClass {
    std::string name;
    unsigned log2_keys;
    unsigned log2_values;
    std::array<Number, tests> test_keys;
    std::array<Number, tests> test_ranks;
    std::size_t rising;
    std::uint64_t rising_from;
    std::uint64_t falling_from;

    std::uint64_t keys() const { return std::uint64_t{1} << log2_keys; }
    std::uint64_t values() const { return std::uint64_t{1} << log2_values; }
    std::uint64_t rank(std::size_t test, std::uint64_t iteration) const {
        return test < rising ? test_ranks[test] + iteration - rising_from
                             : test_ranks[test] - iteration + falling_from;
    }
};
const std::vector<IsClass>& is_classes() {
    static const std::vector<IsClass> all{
        {"S", 16, 11, {48427, 17148, 23627, 62548, 4431}, {0, 18, 346, 64917, 65463}, 3, 0, 0},
        {"W",
         20,
         16,
         {357773, 934767, 875723, 898999, 404505},
         {1249, 11698, 1039987, 1043896, 1048018},
         2,
         2,
         0},
        {"A",
         23,
         19,
         {2112377, 662041, 5336171, 3642833, 4250760},
         {104, 17523, 123928, 8288932, 8388264},
         3,
         1,
         1}};
    return all;
}
const IsClass& is_class(const std::string& name) {
    return *std::ranges::find(is_classes(), name, &IsClass::name);
}

/// The next key: the mean of four random numbers, of as many values as the class has.
Number next_key(const IsClass& size, NasRandom& random) {
    std::uint64_t sum = 0;
    for (int i = 0; i < 4; ++i) sum += random.next();
    return static_cast<Number>(sum >> (NasRandom::bits + 2 - size.log2_values));
}

/// The keys that iteration `iteration` (from 1 on) changes, by place, and their new values.
std::array<std::pair<std::uint64_t, Number>, 2> changes(const IsClass& size, std::uint64_t iteration) {
    return {{{iteration, static_cast<Number>(iteration)},
             {iteration + iterations, static_cast<Number>(size.values() - iteration)}}};
}

/// Of a sequence of keys, or a part of one.
struct Order {
    std::uint64_t misplaced = 0;  ///< keys that are smaller than the one before
    std::uint64_t digest = 0;     ///< of all values and places, modulo 2^64

    void add(std::uint64_t place, Number key) { digest += (place + 1) * (key + 1) * 0x9e3779b97f4a7c15U; }
    friend Order operator+(const Order& a, const Order& b) {
        return {a.misplaced + b.misplaced, a.digest + b.digest};
    }
    /// A number that an answer can hold.
    double short_digest() const { return static_cast<double>(digest >> 24); }
};

/// An array that all nodes share, and where it lies on this node.
struct Numbers {
    dsm::Shared<Number> shared;
    Number* here = nullptr;
};

/// Keys, their values and the sorted keys are each dealt out in as many parts as there are pools. Part p is
/// the filament p of each phase.
class Is final : public SharedProgram {
public:
    Is(const Settings& settings, const IsClass& size)
        : SharedProgram(settings), size_(size), aligned_(settings.text("parts") == "aligned") {}

    void main(Filaments& fil) override {
        parts_ = std::uint64_t{fil.nodes()} * fil.processors() * pools();
        share(fil);
        for (std::uint64_t part = 0; part <= parts_; ++part) starts_.push_back(first(size_.keys(), part));
        auto& begin = fil.create_phase<&Is::begin, nullptr, &Is::begin_touches>(*this, {.units = 0});
        const PhaseOptions options{.units = 0, .at_once = 1, .skip = skips()};
        auto& count = fil.create_phase<&Is::count, nullptr, &Is::count_touches>(*this, options);
        auto& add = fil.create_phase<&Is::add, &Is::added, &Is::add_touches>(*this, options);
        auto& rank = fil.create_phase<&Is::rank, &Is::ranked, &Is::rank_touches>(*this, options);
        auto& place = fil.create_phase<&Is::place, nullptr, &Is::place_touches>(*this, options);
        auto& judge = fil.create_phase<&Is::judge, &Is::judged, &Is::judge_touches>(*this, options);
        fil.repeat_in_sequence(count, add, rank);
        fill(fil, begin);
        fill(fil, count);
        fill(fil, add);
        fill(fil, rank);
        fill(fil, place);
        fill(fil, judge);
        fil.start();
    }

    runtime::Answer answer() const override {
        // The same on every node.
        using Combine = runtime::AnswerValue::Combine;
        return {{"misplaced", static_cast<double>(order_result_.misplaced), Combine::max},
                {"digest", order_result_.short_digest(), Combine::max}};
    }

private:
    /// Where a part begins if parts are equal.
    std::uint64_t first(std::uint64_t all, std::uint64_t part) const { return all * part / parts_; }
    std::uint64_t size(std::uint64_t all, std::uint64_t part) const {
        return first(all, part + 1) - first(all, part);
    }

    void share(Filaments& fil) {
        dsm::SharedMemory& memory = fil.memory();
        const std::uint64_t page = memory.page_bytes() / sizeof(Number);
        stride_ = aligned_ ? (size_.values() + page - 1) / page * page : size_.values();
        keys_.shared = memory.allocate<Number>("keys", size_.keys());
        counts_.shared = memory.allocate<Number>("counts", parts_ * stride_, {.row = stride_});
        totals_.shared = memory.allocate<Number>("totals", parts_);
        ranks_.shared = memory.allocate<Number>("ranks", size_.values());
        sorted_.shared = memory.allocate<Number>("sorted", size_.keys());
        fil.seal();
        for (Numbers* const array : {&keys_, &counts_, &totals_, &ranks_, &sorted_})
            array->here = memory.at(array->shared);
    }

    template <auto code>
    void fill(Filaments& fil, Phase<code>& phase) const {
        auto& array = fil.create_pool_array(phase, 1, pools());
        for (std::size_t pool = 0; pool < array.size(); ++pool)
            fil.create_filament(array[pool], fil.my_node() * array.size() + pool);
    }

    // --- the start: this part of the keys
    void begin(Processor&, std::uint64_t part) {
        const std::uint64_t from = first(size_.keys(), part);
        NasRandom random(4 * from);
        for (std::uint64_t i = from; i < first(size_.keys(), part + 1); ++i)
            keys_.here[i] = next_key(size_, random);
    }
    void begin_touches(Ranges& ranges, std::uint64_t part, std::uint64_t /*one*/) {
        writes(ranges, keys_, first(size_.keys(), part), size(size_.keys(), part));
    }

    // --- how often each value is among this part's keys
    void count(Processor& self, std::uint64_t part) {
        const std::uint64_t from = first(size_.keys(), part);
        const std::uint64_t end = first(size_.keys(), part + 1);
        for (const auto& [place, key] : changes(size_, iteration_))
            if (place >= from && place < end) keys_.here[place] = key;
        Number* const counts = counts_.here + part * stride_;
        std::fill_n(counts, size_.values(), 0);
        for (std::uint64_t i = from; i < end; ++i) ++counts[keys_.here[i]];
        self.work(end - from);
    }
    void count_touches(Ranges& ranges, std::uint64_t part, std::uint64_t /*one*/) {
        const std::uint64_t from = first(size_.keys(), part);
        reads(ranges, keys_, from, size(size_.keys(), part));
        for (const auto& [place, key] : changes(size_, iteration_))
            if (place >= from && place < first(size_.keys(), part + 1)) writes(ranges, keys_, place, 1);
        writes(ranges, counts_, part * stride_, size_.values());
        ranges.work(size(size_.keys(), part));
    }

    // --- this part of the values: how many keys are smaller than each, and how many there are
    void add(Processor& self, std::uint64_t part) {
        const std::uint64_t from = first(size_.values(), part);
        std::vector<Number> sums(size(size_.values(), part));
        // Each part begins with its own counts, so that not all nodes ask for the same page.
        for (std::uint64_t i = 0; i < parts_; ++i) {
            const Number* const counts = counts_.here + (part + i) % parts_ * stride_ + from;
            for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += counts[k];
        }
        Number total = 0;
        for (Number& sum : sums) total += std::exchange(sum, total);
        dsm::copy_in_order(sums.data(), sums.size(), ranks_.here + from);
        totals_.here[part] = total;
        self.work(parts_ * sums.size());
    }
    void add_touches(Ranges& ranges, std::uint64_t part, std::uint64_t /*one*/) {
        const std::uint64_t from = first(size_.values(), part);
        const std::uint64_t values = size(size_.values(), part);
        for (std::uint64_t other = 0; other < parts_; ++other)
            reads(ranges, counts_, other * stride_ + from, values);
        writes(ranges, ranks_, from, values);
        writes(ranges, totals_, part, 1);
        ranges.work(parts_ * values);
    }
    /// Afterwards `starts_` says how many keys are smaller than those of each part of the values.
    PostPhase added(Filaments& fil) {
        fil.barrier();
        if (skips()) return F_CONTINUE;
        const auto checkout = fil.memory().touch(fil.strand(), {dsm::reading(totals_.shared, 0, parts_)});
        for (std::uint64_t part = 0; part < parts_; ++part)
            starts_[part + 1] = starts_[part] + totals_.here[part];
        return F_CONTINUE;
    }

    // --- the rank of this part of the values
    void rank(Processor& self, std::uint64_t part) {
        const auto before = static_cast<Number>(starts_[part]);
        for (std::uint64_t k = first(size_.values(), part); k < first(size_.values(), part + 1); ++k)
            ranks_.here[k] += before;
        self.work(size(size_.values(), part));
    }
    void rank_touches(Ranges& ranges, std::uint64_t part, std::uint64_t /*one*/) {
        writes(ranges, ranks_, first(size_.values(), part), size(size_.values(), part));
        ranges.work(size(size_.values(), part));
    }
    PostPhase ranked(Filaments& fil) {
        fil.barrier();
        if (fil.my_node() == 0 && !skips()) show_ranks(fil);
        return ++iteration_ > iterations ? F_DONE : F_CONTINUE;
    }
    /// Of the keys whose ranks are published. No node changes ranks before all nodes have counted again.
    void show_ranks(Filaments& fil) {
        runtime::Bytes shown = evidence();
        for (const Number test : size_.test_keys) {
            Number key = 0;
            {
                const auto checkout = fil.memory().touch(fil.strand(), {dsm::reading(keys_.shared, test, 1)});
                key = keys_.here[test];
            }
            const auto checkout = fil.memory().touch(fil.strand(), {dsm::reading(ranks_.shared, key, 1)});
            const Number rank = ranks_.here[key];
            shown.resize(shown.size() + sizeof rank);
            std::memcpy(shown.data() + shown.size() - sizeof rank, &rank, sizeof rank);
        }
        show(std::move(shown));
    }

    // --- keys whose values are in this part go where their ranks say
    void place(Processor& self, std::uint64_t part) {
        const std::uint64_t from = first(size_.values(), part);
        const std::uint64_t values = size(size_.values(), part);
        std::vector<Number> next(values);
        dsm::copy_in_order(ranks_.here + from, values, next.data());
        // Each part begins with its own keys. It copies some at a time: others use the same page.
        std::array<Number, 1024> some{};
        const std::uint64_t begin = first(size_.keys(), part);
        for (std::uint64_t done = 0, count = 0; done < size_.keys(); done += count) {
            const std::uint64_t at = (begin + done) % size_.keys();
            count = std::min({some.size(), size_.keys() - at, size_.keys() - done});
            dsm::copy_in_order(keys_.here + at, count, some.data());
            for (std::size_t i = 0; i < count; ++i)
                if (some[i] - from < values) sorted_.here[next[some[i] - from]++] = some[i];
        }
        self.work(size_.keys());
    }
    void place_touches(Ranges& ranges, std::uint64_t part, std::uint64_t /*one*/) {
        reads(ranges, keys_, 0, size_.keys());
        reads(ranges, ranks_, first(size_.values(), part), size(size_.values(), part));
        writes(ranges, sorted_, starts_[part], starts_[part + 1] - starts_[part]);
        ranges.work(size_.keys());
    }

    // --- whether this part of the sorted keys is sorted
    void judge(Processor& self, std::uint64_t part) {
        Order& order = self.value(order_);
        for (std::uint64_t i = first(size_.keys(), part); i < first(size_.keys(), part + 1); ++i) {
            if (i > 0 && sorted_.here[i - 1] > sorted_.here[i]) ++order.misplaced;
            order.add(i, sorted_.here[i]);
        }
        self.work(size(size_.keys(), part));
    }
    void judge_touches(Ranges& ranges, std::uint64_t part, std::uint64_t /*one*/) {
        const std::uint64_t from = std::max<std::uint64_t>(1, first(size_.keys(), part)) - 1;
        reads(ranges, sorted_, from, first(size_.keys(), part + 1) - from);
        ranges.work(size(size_.keys(), part));
    }
    PostPhase judged(Filaments& fil) {
        order_result_ = fil.reduce(order_, filaments::add);
        return F_DONE;
    }

    static void reads(Ranges& ranges, const Numbers& array, std::uint64_t from, std::uint64_t count) {
        if (count != 0) ranges.reads(array.shared, from, count);
    }
    static void writes(Ranges& ranges, const Numbers& array, std::uint64_t from, std::uint64_t count) {
        if (count != 0) ranges.writes(array.shared, from, count);
    }

    const IsClass& size_;
    bool aligned_;
    std::uint64_t parts_ = 0;
    std::uint64_t stride_ = 0;  ///< from one part's counts to the next one's
    Numbers keys_, counts_, totals_, ranks_, sorted_;
    std::vector<std::uint64_t> starts_;  ///< where each part of the values begins among the sorted keys
    std::uint64_t iteration_ = 1;
    Reduction<Order> order_{*this, "order"};
    Order order_result_;
};

class IsWorkload final : public FilamentWorkload {
public:
    explicit IsWorkload(const Settings& settings)
        : settings_(settings), size_(is_class(settings.text("class"))) {}

    std::unique_ptr<runtime::Program> program(NodeId /*node*/) const override {
        return std::make_unique<Is>(settings_, size_);
    }

    Verdict check(const runtime::RunResult& result) const override {
        if (settings_.text("kernels") == "skip") return skipped();
        const std::string wrong = wrong_rank(result.evidence.at(0));
        if (!wrong.empty()) return {Verdict::Kind::wrong, wrong};
        std::vector<Number> keys;
        NasRandom random;
        while (keys.size() < size_.keys()) keys.push_back(next_key(size_, random));
        for (std::uint64_t i = 1; i <= iterations; ++i)
            for (const auto& [place, key] : changes(size_, i)) keys[place] = key;
        std::ranges::sort(keys);
        Order expected;
        for (std::uint64_t i = 0; i < keys.size(); ++i) expected.add(i, keys[i]);
        Verdict verdict = judge(result.answer, {{"misplaced", 0}, {"digest", expected.short_digest()}},
                                "the C++ library's sort");
        if (verdict.kind == Verdict::Kind::right) {
            verdict.reason = fmt::format("the {} ranks published for class {}, and all keys sorted",
                                         iterations * tests, size_.name);
        }
        return verdict;
    }

protected:
    /// Keys, sorted keys, and the counts of each part.
    MemoryTaken memory(const WorkerGrid& grid, const runtime::SharedPages& pages) const override {
        const double parts = static_cast<double>(grid.workers()) * settings_.number("pools");
        const double counts = sizeof(Number) * static_cast<double>(size_.values());
        const bool aligned = settings_.text("parts") == "aligned";
        return {.shared = 2 * sizeof(Number) * static_cast<double>(size_.keys()),
                .moved = parts * (aligned ? aligned_bytes(counts, true, grid, pages) : counts),
                .what = fmt::format("the keys of class {} and {:.0f} tables of counts", size_.name, parts),
                .reduce = "choose a smaller workload.class, or fewer nodes, cores or workload.pools",
                .where = settings_.where("class")};
    }

private:
    /// Empty if all ranks are as published.
    std::string wrong_rank(const runtime::Bytes& shown) const {
        if (shown.size() != iterations * tests * sizeof(Number)) return "node 0 has not shown all ranks";
        for (std::uint64_t i = 0; i < iterations; ++i) {
            for (std::size_t test = 0; test < tests; ++test) {
                Number found = 0;
                std::memcpy(&found, shown.data() + (i * tests + test) * sizeof found, sizeof found);
                if (found == size_.rank(test, i + 1)) continue;
                return fmt::format("in iteration {} key {} has rank {}, and {} is published for class {}",
                                   i + 1, size_.test_keys[test], found, size_.rank(test, i + 1), size_.name);
            }
        }
        return {};
    }

    Settings settings_;
    const IsClass& size_;
};

const Registration registration{
    {"nas_is",
     "NAS Parallel Benchmark IS: ranks of integers that all nodes share, a filament for each processor's "
     "part",
     FilamentWorkload::common_settings(
         {{"class",
           SettingKind::choice,
           "S",
           "the published size: S has 2^16 keys, W 2^20, A 2^23",
           {"S", "W", "A"}},
          {"parts",
           SettingKind::choice,
           "aligned",
           "aligned: each processor's counts begin on a page of their own; packed: one after the other",
           {"packed", "aligned"}}},
         "one key or count", "2f", "4B"),
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<IsWorkload>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
