// The program of figures.hpp as a workload.
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/cluster_view.hpp"
#include "base/error.hpp"
#include "figures.hpp"
#include "workloads/workload.hpp"

namespace {

using heddle::NodeId;
using heddle::Settings;
using heddle::workloads::Verdict;

class Figures final : public heddle::workloads::Workload {
public:
    explicit Figures(const Settings& settings)
        : n_(settings.integer<int>("n")), epsilon_(settings.number("epsilon")) {}

    /// Figure 2 gives each processor as many rows. Rows that are left over would be computed by none.
    void prepare(const heddle::ClusterView& cluster, const heddle::runtime::Schedule& /*schedule*/) override {
        const std::uint64_t processors = std::uint64_t{cluster.grid.nodes} * cluster.grid.cores;
        if (static_cast<std::uint64_t>(n_) % processors == 0) return;
        throw heddle::Error("n is " + std::to_string(n_) + ", which " + std::to_string(processors) +
                                " processors cannot divide evenly",
                            "set workload.n to a multiple of nodes times cores")
            .as_refusal();
    }

    std::unique_ptr<heddle::runtime::Program> program(NodeId /*node*/) const override {
        return std::make_unique<hyfi::Jacobi>(n_, epsilon_);
    }

    /// Against Laplace's equation, which is solved where no point changes any more: the mean of the four
    /// sides is the value in the middle. So the sum is about the sum of Laplace's solution, a quarter of the
    /// points.
    Verdict check(const heddle::runtime::RunResult& result) const override {
        for (const auto& value : result.answer) {
            if (value.name != "sum") continue;
            const double points = static_cast<double>(n_) * (n_ - 2);
            if (std::fabs(value.value / points - 0.25) < 0.05)
                return {Verdict::Kind::right, "about a quarter of the points, by symmetry"};
            return {Verdict::Kind::wrong, "the points' mean is not about a quarter"};
        }
        return {Verdict::Kind::wrong, "there is no sum"};
    }

    std::vector<const heddle::runtime::TaskType*> tasks() const override { return {}; }

private:
    int n_;
    double epsilon_;
};

const heddle::workloads::Registration registration{
    {"figures",
     "Jacobi iteration as in Figures 1 and 2 of the HyFi paper",
     {{"n", heddle::SettingKind::integer, "32", "rows, a multiple of nodes times cores", {}, 4, 4096},
      {"epsilon",
       heddle::SettingKind::number,
       "1e-6",
       "no point changes by so much in the last sweep",
       {},
       0}},
     [](const Settings& settings) -> std::unique_ptr<heddle::workloads::Workload> {
         return std::make_unique<Figures>(settings);
     }}};

}  // namespace
