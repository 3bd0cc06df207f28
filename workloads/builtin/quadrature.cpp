// quadrature: the area under x^k between two bounds by adaptive quadrature. An interval whose two halves do
// not agree with the whole is divided, each half a task; how deep is known only then (Lowenthal, Subramanian:
// "HyFi", section 4.4). The answer is compared with the antiderivative.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/fork_join.hpp"
#include "workloads/work_kinds.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

namespace {

using model::Strand;

/// Halving a double's interval so often leaves no number between its ends.
constexpr std::uint32_t deepest = 60;

enum class Rule : std::uint8_t { trapezoid, simpson };

struct Curve {
    std::uint32_t exponent;
    double from;
    double to;
    double tolerance;  ///< of the whole area
    Rule rule;
    std::uint32_t cutoff;  ///< sequential from this depth down
    double unit_cost;

    double at(double x) const {
        double power = 1;
        for (std::uint32_t bits = exponent; bits != 0; bits >>= 1, x *= x)
            if ((bits & 1) != 0) power *= x;
        return power;
    }
    double width() const { return std::abs(to - from); }
    /// The largest value of the curve, times the width: no area is larger.
    double area_max() const { return std::max(std::abs(at(from)), std::abs(at(to))) * width(); }
    /// The area by the antiderivative.
    long double area() const {
        const auto below = [&](long double x) { return std::pow(x, exponent + 1.0L) / (exponent + 1.0L); };
        return below(to) - below(from);
    }
};

struct Interval {
    double from;
    double to;
    double at_from;
    double at_to;
    double at_middle;  ///< for Simpson's rule
};

struct Area {
    double area = 0;
    std::uint64_t intervals = 0;  ///< that were not divided
};

/// The area of an interval, and its halves.
struct Halves {
    double whole;
    double sum;
    Interval left;
    Interval right;
};

Halves halve(const Curve& curve, const Interval& interval) {
    const double width = interval.to - interval.from;
    const double middle = interval.from + width / 2;
    Halves halves;  // not cleared: each value is set below
    if (curve.rule == Rule::trapezoid) {
        const double between = curve.at(middle);
        halves.left = {interval.from, middle, interval.at_from, between, 0};
        halves.right = {middle, interval.to, between, interval.at_to, 0};
        halves.whole = width / 2 * (interval.at_from + interval.at_to);
        halves.sum = width / 4 * (interval.at_from + 2 * between + interval.at_to);
        return halves;
    }
    const double between = interval.at_middle;
    const double first = curve.at(interval.from + width / 4);
    const double third = curve.at(middle + width / 4);
    halves.left = {interval.from, middle, interval.at_from, between, first};
    halves.right = {middle, interval.to, between, interval.at_to, third};
    halves.whole = width / 6 * (interval.at_from + 4 * between + interval.at_to);
    halves.sum = width / 12 * (interval.at_from + 4 * first + 2 * between + 4 * third + interval.at_to);
    return halves;
}

/// Whether the halves are as good as an interval of this width must be. Where the curve bends one way only,
/// they are nearer to the area than to the whole.
bool good_enough(const Curve& curve, const Interval& interval, std::uint32_t depth, const Halves& halves) {
    const double share = std::abs(interval.to - interval.from) / curve.width();
    return std::abs(halves.sum - halves.whole) <= curve.tolerance * share || depth >= deepest;
}

Area& operator+=(Area& sum, const Area& part) {
    sum.area += part.area;
    sum.intervals += part.intervals;
    return sum;
}

/// Counts the intervals that it looks at in `looks`.
Area sequential(const Curve& curve, const Interval& interval, std::uint32_t depth, std::uint64_t& looks) {
    ++looks;
    const Halves halves = halve(curve, interval);
    if (good_enough(curve, interval, depth, halves)) return {halves.sum, 1};
    Area area = sequential(curve, halves.left, depth + 1, looks);
    return area += sequential(curve, halves.right, depth + 1, looks);
}

struct Quadrature {
    static constexpr auto name = "quadrature";
    static const Curve& curve(Strand strand);
    /// It has read the interval before its first fork writes over it. A copy of the whole would wait for the
    /// stores of its values.
    static constexpr bool in_place = true;
    static Area run(Strand strand, const Interval& interval, std::uint32_t depth) {
        const Curve& under = curve(strand);
        if (depth >= under.cutoff) {
            std::uint64_t looks = 0;
            const Area area = sequential(under, interval, depth, looks);
            strand.work(looks);
            return area;
        }
        strand.work();
        const Halves halves = halve(under, interval);
        if (good_enough(under, interval, depth, halves)) return {halves.sum, 1};
        strand.fork<Quadrature>(halves.left, depth + 1);
        const Area right = strand.call<Quadrature>(halves.right, depth + 1);
        Area area = strand.join<Quadrature>();
        return area += right;
    }
};

class QuadratureProgram final : public model::ForkJoinProgram {
public:
    explicit QuadratureProgram(const Curve& curve) : curve_(curve) {}

    const Curve& curve() const { return curve_; }
    runtime::Work unit() const override { return {curve_.unit_cost, 0}; }
    void root(Strand strand) override {
        const Curve& c = curve_;
        const double middle = c.from + (c.to - c.from) / 2;
        const Area found =
            strand.call<Quadrature>(Interval{c.from, c.to, c.at(c.from), c.at(c.to), c.at(middle)}, 0U);
        answer_ = {{"area", found.area}, {"intervals", static_cast<double>(found.intervals)}};
    }
    runtime::Answer answer() const override { return answer_; }

private:
    const Curve& curve_;
    runtime::Answer answer_;
};

inline const Curve& Quadrature::curve(Strand strand) {
    return strand.program<QuadratureProgram>().curve();
}

class QuadratureWorkload final : public Workload {
public:
    explicit QuadratureWorkload(const Settings& settings)
        : curve_{settings.integer<std::uint32_t>("exponent"),
                 settings.number("from"),
                 settings.number("to"),
                 settings.number("tolerance"),
                 settings.text("rule") == "simpson" ? Rule::simpson : Rule::trapezoid,
                 settings.integer<std::uint32_t>("cutoff"),
                 settings.number("unit_cost")} {
        if (curve_.cutoff == 0) curve_.cutoff = deepest + 1;
        if (curve_.from == curve_.to) {
            throw Error(fmt::format("from and to are both {}", curve_.from),
                        "state two different bounds: there is no area between equal ones",
                        settings.where("to"));
        }
        // Sums of so many doubles are no more exact than that.
        constexpr double resolved = 1e-13;
        if (!(curve_.tolerance >= resolved * curve_.area_max())) {
            throw Error(fmt::format("tolerance {} is less than doubles can tell: the area may be as large as "
                                    "{}",
                                    curve_.tolerance, curve_.area_max()),
                        fmt::format("state at least {:.3g}, or nearer bounds or a smaller exponent",
                                    resolved * curve_.area_max()),
                        settings.where("tolerance"));
        }
    }

    std::unique_ptr<runtime::Program> program(NodeId) const override {
        return std::make_unique<QuadratureProgram>(curve_);
    }

    Verdict check(const runtime::RunResult& result) const override {
        const auto found = std::ranges::find(result.answer, "area", &runtime::AnswerValue::name);
        if (found == result.answer.end()) return {Verdict::Kind::wrong, "no area in the answer"};
        const long double exact = curve_.area();
        const auto off = static_cast<double>(std::abs(found->value - exact));
        const auto near = fmt::format("{:.3f} by the antiderivative", static_cast<double>(exact));
        if (off <= curve_.tolerance)
            return {Verdict::Kind::right, fmt::format("within {} of {}", curve_.tolerance, near)};
        return {Verdict::Kind::wrong, fmt::format("area is {:.3f}, which is {:.3g} from {}; tolerance {}",
                                                  found->value, off, near, curve_.tolerance)};
    }

    std::vector<const runtime::TaskType*> tasks() const override {
        return {&model::TaskFunction<Quadrature>::type};
    }

private:
    Curve curve_;
};

/// A coarse area under x^6: as in a fine one, no pattern says where intervals are good enough.
const KernelRegistration kernel{
    {"quadrature.look",
     {{0,
       [] {
           const Curve curve{6, 1, 70, 65'536, Rule::trapezoid, 0, 0};
           const auto look_at_all = [curve] {
               std::uint64_t looks = 0;
               const Interval whole{curve.from, curve.to, curve.at(curve.from), curve.at(curve.to), 0};
               [[maybe_unused]] volatile double area = sequential(curve, whole, 0, looks).area;
               return looks;
           };
           return Kernel::Code{200.0 * static_cast<double>(look_at_all()), look_at_all};
       }}}},
    {"quadrature"}};

const Registration registration{
    {"quadrature",
     "the area under x^k by adaptive quadrature: a task for each interval, divided as long as its halves "
     "disagree with it",
     {{"exponent", SettingKind::integer, "6", "the k of x^k", {}, 0, 60},
      {"from", SettingKind::number, "1", "where the area begins", {}, -1e4, 1e4},
      {"to", SettingKind::number, "70", "where it ends", {}, -1e4, 1e4},
      {"tolerance",
       SettingKind::number,
       "100",
       "how far the answer may be from the area; an interval gets its share",
       {},
       0},
      {"rule",
       SettingKind::choice,
       "trapezoid",
       "how the area of an interval is approximated",
       {"trapezoid", "simpson"}},
      {"cutoff", SettingKind::integer, "0", "sequential from this depth down; 0: never", {}, 0, deepest},
      {"unit_cost",
       SettingKind::flops,
       "200f",
       "cost of a look at one interval where work is charged (200 flop: 20 ns at 10 Gf/s)",
       {},
       0,
       flops_max}},
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<QuadratureWorkload>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
