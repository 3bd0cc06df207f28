// matmul: C = A B of n x n matrices that all nodes share, a filament for each point of C. It is the program
// of section 4.3 of the HyFi paper (Lowenthal, Subramanian). Node 0 writes A and B, and the other nodes get
// what they read.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "model/dsm/ordered_copy.hpp"
#include "workloads/filaments.hpp"
#include "workloads/work_kinds.hpp"

namespace heddle::workloads {

namespace {

using namespace filaments;

/// A number in [-1, 1) that follows from its place.
double entry(std::uint64_t matrix, std::uint64_t place) {
    std::uint64_t bits = (place + 1) * 0x9e3779b97f4a7c15U + matrix * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebU;
    return static_cast<double>(bits >> 11) * 0x1p-52 - 1;
}

Distribution distribution(std::int64_t n, NodeId nodes, std::size_t pools) {
    return block(0, n, nodes, pools);
}

/// The factors and the product.
struct Product {
    SharedMatrix a, b, c;
    std::int64_t n = 0;

    void point(std::int64_t i, std::int64_t j) const {
        double sum = 0;
        for (std::int64_t k = 0; k < n; ++k) sum += a.at(i, k) * b.at(k, j);
        c.at(i, j) = sum;
    }
    /// `count` points of a row. The sums have the same terms in the same order, but a line of B is read once
    /// for several of them.
    void points(std::int64_t i, std::int64_t j, std::uint64_t count) const {
        constexpr std::int64_t width = 16;
        const auto end = j + static_cast<std::int64_t>(count);
        for (; j + width <= end; j += width) {
            std::array<double, width> sums{};
            const double* const row = a.row(i);
            for (std::int64_t k = 0; k < n; ++k) {
                const double* const of_b = b.row(k) + j;
                for (std::size_t column = 0; column < width; ++column) sums[column] += row[k] * of_b[column];
            }
            dsm::copy_in_order(sums.data(), sums.size(), c.row(i) + j);
        }
        for (; j < end; ++j) point(i, j);
    }
};

class Matmul final : public ArrayProgram {
public:
    explicit Matmul(const Settings& settings) : ArrayProgram(settings), n_(settings.integer("n")) {
        of_.n = n_;
    }

    void main(Filaments& fil) override {
        of_.a = allocate(fil, "A", n_);
        of_.b = allocate(fil, "B", n_);
        of_.c = allocate(fil, "C", n_);
        fil.seal();
        for (SharedMatrix* const matrix : {&of_.a, &of_.b, &of_.c}) find(fil, *matrix);
        if (fil.my_node() == 0) begin(fil);

        auto& phase = fil.create_phase<&Matmul::point, nullptr, &Matmul::touches, &Matmul::points>(
            *this, {.units = static_cast<std::uint64_t>(n_), .skip = skips()});
        auto& pools_here = fil.create_pool_array(phase, static_cast<std::uint64_t>(n_ * n_), pools());
        const auto mine = distribution(n_, fil.nodes(), pools_here.size()).of(fil.my_node());
        for (const auto [i, pool] : mine)
            for (std::int64_t j = 0; j < n_; ++j) fil.create_filament(pools_here[pool], i, j);
        points_ = static_cast<std::uint64_t>(n_) * mine.size();
        fil.start();
        show(fil, of_.c, mine);
    }

    runtime::Answer answer() const override { return {{"points", static_cast<double>(points_)}}; }

private:
    /// Row by row, because it may have to fetch them.
    void begin(Filaments& fil) {
        for (std::int64_t i = 0; i < n_; ++i) {
            const auto checkout =
                fil.memory().touch(fil.strand(), {dsm::writing(of_.a.shared, of_.a.place(i, 0), of_.a.n),
                                                  dsm::writing(of_.b.shared, of_.b.place(i, 0), of_.b.n)});
            fil.strand().worker().compute({}, [&] {
                for (std::int64_t j = 0; j < n_; ++j) {
                    const auto place = static_cast<std::uint64_t>(i * n_ + j);
                    of_.a.at(i, j) = entry(0, place);
                    of_.b.at(i, j) = entry(1, place);
                }
            });
        }
    }

    void point(Processor&, std::int64_t i, std::int64_t j) { of_.point(i, j); }
    void points(Processor&, std::int64_t i, std::int64_t j, std::uint64_t count) { of_.points(i, j, count); }
    void touches(Ranges& ranges, std::int64_t i, std::int64_t j, std::uint64_t count) {
        ranges.reads(of_.a.shared, of_.a.place(i, 0), of_.a.n);
        ranges.reads(of_.b.shared, 0, of_.b.n * of_.b.stride);
        ranges.writes(of_.c.shared, of_.c.place(i, j), count);
    }

    std::int64_t n_;
    std::uint64_t points_ = 0;
    Product of_;
};

class MatmulWorkload final : public FilamentWorkload {
public:
    explicit MatmulWorkload(const Settings& settings) : settings_(settings), n_(settings.integer("n")) {}

    std::unique_ptr<runtime::Program> program(NodeId /*node*/) const override {
        return std::make_unique<Matmul>(settings_);
    }

    Verdict check(const runtime::RunResult& result) const override {
        if (settings_.text("kernels") == "skip") return skipped();
        const auto nodes = static_cast<NodeId>(result.evidence.size());
        const auto found = shown_rows(result, distribution(n_, nodes, 1), n_);
        const auto size = static_cast<std::size_t>(n_);
        std::vector<double> a(size * size), b(size * size);
        for (std::size_t place = 0; place < size * size; ++place) {
            a[place] = entry(0, place);
            b[place] = entry(1, place);
        }
        constexpr std::int64_t compared_max = 600;
        if (n_ <= compared_max) {
            std::vector<double> expected(size * size);
            for (std::size_t i = 0; i < size; ++i) {
                for (std::size_t j = 0; j < size; ++j) {
                    double sum = 0;
                    for (std::size_t k = 0; k < size; ++k) sum += a[i * size + k] * b[k * size + j];
                    expected[i * size + j] = sum;
                }
            }
            const std::string difference = first_difference(found, expected, n_);
            if (!difference.empty()) return {Verdict::Kind::wrong, difference};
            return {Verdict::Kind::right, "the sequential program's bits"};
        }
        return probe(a, b, found);
    }

protected:
    /// A, B and C. Each node with rows reads all of B. Node 0 writes all of A and B, and what moves away
    /// keeps its memory there. It gathers C, and its check makes a copy of each.
    MemoryTaken memory(const WorkerGrid& grid, const runtime::SharedPages& pages) const override {
        const double nodes = grid.nodes;
        return memory_of({.shared = 2,
                          .each = std::min(1.0, static_cast<double>(n_) / nodes),
                          .first = 1 - 1 / nodes,
                          .shown = 1,
                          .checked = 4},
                         settings_, grid, pages);
    }

private:
    /// C x against A (B x) for a random x (Freivalds: "Probabilistic machines can use less running time",
    /// 1977).
    Verdict probe(const std::vector<double>& a, const std::vector<double>& b,
                  const std::vector<double>& c) const {
        const auto size = static_cast<std::size_t>(n_);
        const auto times = [&](const std::vector<double>& matrix, const std::vector<double>& vector) {
            std::vector<double> product(size);
            for (std::size_t i = 0; i < size; ++i)
                for (std::size_t k = 0; k < size; ++k) product[i] += matrix[i * size + k] * vector[k];
            return product;
        };
        Random random(1);
        std::vector<double> x(size);
        for (double& value : x) value = random.below(2) == 0 ? 1 : -1;
        const auto left = times(c, x);
        const auto right = times(a, times(b, x));
        // A sum of n numbers below one, n times, and again n times.
        const double allowed =
            8 * std::numeric_limits<double>::epsilon() * std::pow(static_cast<double>(n_), 2);
        for (std::size_t i = 0; i < size; ++i) {
            if (std::fabs(left[i] - right[i]) <= allowed) continue;
            return {
                Verdict::Kind::wrong,
                fmt::format("row {} of C times a random vector is {}, and of A B {}", i, left[i], right[i])};
        }
        return {Verdict::Kind::right, "C times a random vector is A times B times it"};
    }

    Settings settings_;
    std::int64_t n_;
};

/// Some rows of a product: each goes through all of B, so its rows matter, and not how many of C there are.
class ProductKernel {
public:
    explicit ProductKernel(std::int64_t side) {
        product_.n = side;
        const auto width = static_cast<std::uint64_t>(side);
        for (SharedMatrix* const matrix : {&product_.a, &product_.b, &product_.c}) {
            auto& of_matrix = numbers_.emplace_back(static_cast<std::size_t>(side * side));
            for (std::size_t place = 0; place < of_matrix.size(); ++place) of_matrix[place] = entry(0, place);
            *matrix = {{}, width, width, of_matrix.data()};
        }
    }
    void operator()() {
        for (std::int64_t count = 0; count < rows(product_.n); ++count) {
            // As in a phase.
            constexpr auto most = static_cast<std::int64_t>(strip_most);
            for (std::int64_t j = 0; j < product_.n; j += most)
                product_.points(next_, j, static_cast<std::uint64_t>(std::min(most, product_.n - j)));
            next_ = (next_ + 1) % product_.n;
        }
    }

    /// Of one call.
    static std::int64_t rows(std::int64_t side) { return std::max<std::int64_t>(1, terms / (side * side)); }
    static Kernel::Sample sample(std::int64_t side) {
        return {static_cast<double>(side), [side] {
                    return Kernel::Code{2.0 * static_cast<double>(side * side * rows(side)),
                                        [kernel = std::make_shared<ProductKernel>(side)] { (*kernel)(); }};
                }};
    }

private:
    static constexpr std::int64_t terms = 4'000'000;

    Product product_;
    std::int64_t next_ = 0;
    std::deque<std::vector<double>> numbers_;
};

const KernelRegistration kernel{
    {"matmul.term",
     {ProductKernel::sample(64), ProductKernel::sample(128), ProductKernel::sample(256),
      ProductKernel::sample(512), ProductKernel::sample(1024)}},
    {"matmul"},
    "n"};

const Registration registration{
    {"matmul", "the product of two matrices that all nodes share, a filament for each point",
     FilamentWorkload::settings({{"n", SettingKind::integer, "128", "rows and columns", {}, 1, 20'000}},
                                "one product and sum", "2f", "0B"),
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<MatmulWorkload>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
