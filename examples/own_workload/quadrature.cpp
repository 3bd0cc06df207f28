// A workload of one's own, in one file: the area under a curve by adaptive quadrature. A task halves its
// interval until the halves have the same area as the whole. How deep that goes is not known beforehand, so
// the work needs stealing.
#include <cmath>
#include <string>

#include "workloads/fork_join.hpp"

namespace {

using heddle::Settings;
using heddle::model::Strand;
using heddle::runtime::Answer;
using heddle::workloads::Verdict;

double curve(double x) {
    return (x * x + 1) * x;
}

double trapezoid(double left, double right) {
    return (curve(left) + curve(right)) * (right - left) / 2;
}

/// The task: the area between `left` and `right`, whose trapezoid is `area`. Its arguments travel to other
/// nodes.
struct Interval {
    static constexpr auto name = "quadrature_interval";
    static constexpr std::uint64_t work_units = 1;

    static double run(Strand strand, double left, double right, double area, double tolerance) {
        const double middle = (left + right) / 2;
        const double area_left = trapezoid(left, middle);
        const double area_right = trapezoid(middle, right);
        if (std::abs(area_left + area_right - area) < tolerance) return area_left + area_right;
        strand.fork<Interval>(left, middle, area_left, tolerance);
        const double second = strand.call<Interval>(middle, right, area_right, tolerance);
        return strand.join<Interval>() + second;
    }
};

Answer start(Strand strand, const Settings& settings) {
    const double upper = settings.number("upper");
    return {{"area", strand.call<Interval>(0.0, upper, trapezoid(0, upper), settings.number("tolerance"))}};
}

Verdict check(const Answer& answer, const Settings& settings) {
    const double x = settings.number("upper");
    const double exact = x * x * x * x / 4 + x * x / 2;
    const bool right = std::abs(answer.at(0).value - exact) < 1e-6 * exact;
    return {right ? Verdict::Kind::right : Verdict::Kind::wrong,
            "the integral in closed form: " + std::to_string(exact)};
}

const auto registration = heddle::workloads::fork_join_workload<start, check, Interval>(
    "quadrature", "the area under a curve by adaptive quadrature",
    {{"upper", heddle::SettingKind::number, "1000", "end of the interval, which begins at 0", {}, 1, 1e4},
     {"tolerance", heddle::SettingKind::number, "1e-3", "error that an interval may have", {}, 1e-9}},
    "100f");

}  // namespace
