// A workload of one's own, in one file: the area under a curve by adaptive quadrature. An interval is halved
// until the halves say the same as the whole; how deep that goes is not known beforehand, so it is a case
// for stealing.
#include <cmath>

#include "model/fork_join.hpp"
#include "workloads/workload.hpp"

namespace {

using heddle::model::Strand;

/// The curve, and the area under it from 0 to x.
double curve(double x) {
    return (x * x + 1) * x;
}
double area_exact(double x) {
    return x * x * x * x / 4 + x * x / 2;
}

/// What every task needs and none carries with it: one object on each node.
class Quadrature final : public heddle::model::ForkJoinProgram {
public:
    Quadrature(double upper, double tolerance) : upper_(upper), tolerance_(tolerance) {}

    double tolerance() const { return tolerance_; }
    heddle::runtime::Work unit() const override { return {100, 0}; }
    void root(Strand strand) override;
    heddle::runtime::Answer answer() const override { return answer_; }

private:
    double upper_;
    double tolerance_;
    heddle::runtime::Answer answer_;
};

/// The task: the area between `left` and `right`, whose trapezoid is `area`.
struct Interval {
    static constexpr auto name = "quadrature_interval";
    static double run(Strand strand, double left, double right, double area) {
        strand.work();
        const double middle = (left + right) / 2;
        const double area_left = (curve(left) + curve(middle)) * (middle - left) / 2;
        const double area_right = (curve(middle) + curve(right)) * (right - middle) / 2;
        if (std::abs(area_left + area_right - area) < strand.program<Quadrature>().tolerance())
            return area_left + area_right;
        strand.fork<Interval>(left, middle, area_left);
        const double second = strand.call<Interval>(middle, right, area_right);
        return strand.join<Interval>() + second;
    }
};

void Quadrature::root(Strand strand) {
    const double trapezoid = (curve(0) + curve(upper_)) * upper_ / 2;
    answer_ = {{"area", strand.call<Interval>(0.0, upper_, trapezoid)}};
}

class QuadratureWorkload final : public heddle::workloads::Workload {
public:
    explicit QuadratureWorkload(const heddle::Settings& settings)
        : upper_(settings.number("upper")), tolerance_(settings.number("tolerance")) {}

    std::unique_ptr<heddle::runtime::Program> program(heddle::NodeId) const override {
        return std::make_unique<Quadrature>(upper_, tolerance_);
    }

    heddle::workloads::Verdict check(const heddle::runtime::RunResult& result) const override {
        const heddle::runtime::Answer& answer = result.answer;
        using Kind = heddle::workloads::Verdict::Kind;
        const double exact = area_exact(upper_);
        const bool right = answer.size() == 1 && std::abs(answer[0].value - exact) < 1e-6 * exact;
        return {right ? Kind::right : Kind::wrong, "the integral in closed form: " + std::to_string(exact)};
    }

    std::vector<const heddle::runtime::TaskType*> tasks() const override {
        return {&heddle::model::TaskFunction<Interval>::type};
    }

private:
    double upper_;
    double tolerance_;
};

const heddle::workloads::Registration registration{
    {"quadrature",
     "the area under a curve by adaptive quadrature",
     {{"upper", heddle::SettingKind::number, "1000", "end of the interval, which begins at 0", {}, 1},
      {"tolerance", heddle::SettingKind::number, "1e-3", "error that an interval may have", {}, 1e-9}},
     [](const heddle::Settings& settings) -> std::unique_ptr<heddle::workloads::Workload> {
         return std::make_unique<QuadratureWorkload>(settings);
     }}};

}  // namespace
