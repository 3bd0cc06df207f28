// nas_ft: the NAS Parallel Benchmark FT (Bailey et al.: "The NAS Parallel Benchmarks", RNR-94-007,
// section 2.2.5): a partial differential equation in three dimensions is solved by Fourier transforms. Planes
// are dealt out over the ranks, and each transform needs one redistribution.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/memory_need.hpp"
#include "workloads/fourier.hpp"
#include "workloads/nas_random.hpp"
#include "workloads/spmd_settings.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

namespace {

using spmd::Index;
using spmd::Layout;
using spmd::RankId;
using spmd::Redistribution;
using spmd::Spmd;

/// A size of the problem, and the published checksum of its last step.
struct FtClass {
    std::string name;
    Index nx, ny, nz;
    Complex checksum;

    Index points() const { return nx * ny * nz; }
};
const std::vector<FtClass>& ft_classes() {
    static const std::vector<FtClass> all{{"S", 64, 64, 64, {554.2683411902, 493.2597244941}},
                                          {"W", 128, 128, 32, {550.4159734538, 523.9212247086}},
                                          {"A", 256, 256, 128, {509.1487099959, 510.7917842803}}};
    return all;
}
const FtClass& ft_class(const std::string& name) {
    return *std::ranges::find(ft_classes(), name, &FtClass::name);
}

constexpr int steps = 6;
constexpr double alpha = 1e-6;
constexpr Index summed = 1024;       ///< points of a checksum
constexpr double tolerance = 1e-12;  ///< relative: the published check's

/// Transforms of a plane of x and y, and of a line of z.
struct Transforms {
    explicit Transforms(const FtClass& size)
        : plane{{{static_cast<int>(size.ny), static_cast<int>(size.nx)}, Fourier::Direction::forward},
                {{static_cast<int>(size.ny), static_cast<int>(size.nx)}, Fourier::Direction::backward}},
          line{{{static_cast<int>(size.nz)}, Fourier::Direction::forward},
               {{static_cast<int>(size.nz)}, Fourier::Direction::backward}} {}

    Fourier plane[2];
    Fourier line[2];
};

/// exp(-4 alpha pi^2 k^2) of the frequency at each place, where the second half are the negative ones.
std::vector<double> decay(Index n) {
    std::vector<double> all(n);
    for (Index i = 0; i < n; ++i) {
        const double k = static_cast<double>(i) - (i >= n / 2 ? static_cast<double>(n) : 0);
        all[i] = std::exp(-4 * alpha * std::numbers::pi * std::numbers::pi * k * k);
    }
    return all;
}

/// The layouts of z, y, x by z, and of y, x, z by y; and the ways between them.
struct Slabs {
    Slabs(const FtClass& size, RankId ranks)
        : by_z({{size.nz, spmd::Distribution::block(), ranks}, {size.ny}, {size.nx}}),
          by_y({{size.ny, spmd::Distribution::block(), ranks}, {size.nx}, {size.nz}}),
          to_y(Redistribution::permuted(by_z, by_y, {1, 2, 0})),
          to_z(Redistribution::permuted(by_y, by_z, {2, 0, 1})) {}

    Layout by_z, by_y;
    Redistribution to_y, to_z;
};

class FtProgram final : public spmd::SpmdProgram {
public:
    FtProgram(spmd::SpmdOptions options, const FtClass& size, const Transforms& transforms)
        : SpmdProgram(std::move(options)),
          size_(size),
          transforms_(transforms),
          decays_{decay(size.nx), decay(size.ny), decay(size.nz)} {}

    void set_up(runtime::Node& node) override {
        SpmdProgram::set_up(node);
        ranks_.resize(node.topology().cores);
    }

    void main(Spmd& self) override {
        const RankThread thread(self);
        const Slabs slabs(size_, self.ranks());
        Arrays& mine = ranks_[thread.place];
        if (thread.leads())
            undeclared(self, [&] {
                mine.by_z.resize(slabs.to_y.input_elements(self.rank()));
                mine.by_y.resize(slabs.to_y.output_elements(self.rank()));
                mine.spectrum.resize(mine.by_y.size());
            });
        self.all_reduce_value(std::plus<>(), 0);  // all have their arrays
        fill(self, slabs, thread, mine);
        transform(self, thread, transforms_.plane[0], mine.by_z);
        redistribute(self, slabs.to_y, mine.by_z, mine.spectrum);
        transform(self, thread, transforms_.line[0], mine.spectrum);
        for (int step = 1; step <= steps; ++step) {
            evolve(self, slabs, thread, mine);
            transform(self, thread, transforms_.line[1], mine.by_y);
            redistribute(self, slabs.to_z, mine.by_y, mine.by_z);
            transform(self, thread, transforms_.plane[1], mine.by_z);
            const Complex sum = self.all_reduce_value(std::plus<>(), checksum(self, slabs, thread, mine));
            if (self.node() == 0 && self.thread_rank() == 0) checksum_ = sum;
        }
    }

    runtime::Answer answer() const override {
        return {{"checksum_real", checksum_.real()}, {"checksum_imaginary", checksum_.imag()}};
    }

private:
    struct Arrays {
        std::vector<Complex> by_z, by_y, spectrum;
    };

    /// Random numbers, x fastest: each plane begins at its place in their sequence.
    void fill(const Spmd& self, const Slabs& slabs, const RankThread& thread, Arrays& mine) const {
        const Index plane = size_.nx * size_.ny;
        const std::uint32_t part = slabs.by_z.node_part(self.rank(), 0);
        const auto [begin, end] = thread.share(mine.by_z.size() / plane);
        undeclared(self, [&, first = begin, last = end] {
            for (Index z = first; z < last; ++z) {
                NasRandom random(2 * plane * slabs.by_z.dealt(0).global(part, z));
                for (Index i = z * plane; i < (z + 1) * plane; ++i) {
                    const double real = random.next_fraction();
                    mine.by_z[i] = {real, random.next_fraction()};
                }
            }
        });
    }

    /// The thread's share of the planes or lines of an array.
    static void transform(const Spmd& self, const RankThread& thread, const Fourier& fourier,
                          std::vector<Complex>& array) {
        const Index each = fourier.elements();
        const auto [begin, end] = thread.share(array.size() / each);
        if (begin == end) return;
        const auto count = static_cast<double>(end - begin);
        const runtime::Work work = fourier.work();
        self.worker().compute({count * work.flops, count * work.bytes}, [&, first = begin, last = end] {
            for (Index i = first; i < last; ++i) fourier.transform(&array[i * each]);
        });
    }

    /// A step in time is a product in the spectrum.
    void evolve(const Spmd& self, const Slabs& slabs, const RankThread& thread, Arrays& mine) const {
        const Index nx = size_.nx, nz = size_.nz;
        const std::uint32_t part = slabs.by_y.node_part(self.rank(), 0);
        const auto [begin, end] = thread.share(mine.spectrum.size() / nz);  // lines of z
        if (begin == end) return;
        const double points = static_cast<double>((end - begin) * nz);
        self.worker().compute({3 * points, 3 * sizeof(Complex) * points}, [&, first = begin, last = end] {
            for (Index line = first; line < last; ++line) {
                const Index y = slabs.by_y.dealt(0).global(part, line / nx);
                const double xy = decays_[0][line % nx] * decays_[1][y];
                for (Index z = 0; z < nz; ++z) {
                    Complex& value = mine.spectrum[line * nz + z];
                    value *= xy * decays_[2][z];
                    mine.by_y[line * nz + z] = value;
                }
            }
        });
    }

    /// Of the points in the thread's planes: other threads may still transform theirs.
    Complex checksum(const Spmd& self, const Slabs& slabs, const RankThread& thread,
                     const Arrays& mine) const {
        Complex sum;
        const spmd::Dealt& planes = slabs.by_z.dealt(0);
        const auto [begin, end] = thread.share(mine.by_z.size() / (size_.nx * size_.ny));
        for (Index j = 1; j <= summed; ++j) {
            const Index x = j % size_.nx, y = 3 * j % size_.ny, z = 5 * j % size_.nz;
            const Index plane = planes.local(z);
            if (planes.owner(z) != self.rank() || plane < begin || plane >= end) continue;
            sum += mine.by_z[(plane * size_.ny + y) * size_.nx + x];
        }
        return sum / static_cast<double>(size_.points());
    }

    const FtClass& size_;
    const Transforms& transforms_;
    std::array<std::vector<double>, 3> decays_;
    std::vector<Arrays> ranks_;
    Complex checksum_;
};

class NasFt final : public Workload {
public:
    explicit NasFt(const Settings& settings)
        : size_(ft_class(settings.text("class"))), options_(spmd_options(settings)) {}

    void prepare(const ClusterView& cluster, const runtime::Schedule& /*schedule*/) override {
        need_memory(3 * sizeof(Complex) * static_cast<double>(size_.points()) * share_here(options_, cluster),
                    fmt::format("three arrays of class {}", size_.name), "choose a smaller workload.class");
        transforms_ = std::make_unique<Transforms>(size_);
    }

    std::unique_ptr<runtime::Program> program(NodeId /*node*/) const override {
        return std::make_unique<FtProgram>(options_, size_, *transforms_);
    }

    Verdict check(const runtime::RunResult& result) const override {
        const Complex found{result.answer[0].value, result.answer[1].value};
        const auto near = [](double is, double published) {
            return std::abs(is - published) <= tolerance * std::abs(published);
        };
        const bool right =
            near(found.real(), size_.checksum.real()) && near(found.imag(), size_.checksum.imag());
        return {right ? Verdict::Kind::right : Verdict::Kind::wrong,
                fmt::format("the last checksum is {}within {} of {:.10f}, {:.10f}, published for class {}",
                            right ? "" : "not ", tolerance, size_.checksum.real(), size_.checksum.imag(),
                            size_.name)};
    }

    std::vector<const runtime::TaskType*> tasks() const override { return {}; }

private:
    const FtClass& size_;
    spmd::SpmdOptions options_;
    std::unique_ptr<Transforms> transforms_;
};

const Registration registration{
    {"nas_ft", "the NAS Parallel Benchmark FT: an equation solved by Fourier transforms in three dimensions",
     with_spmd_settings({{"class", SettingKind::choice, "S", "the published size", {"S", "W", "A"}}}),
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<NasFt>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
