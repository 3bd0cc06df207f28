// filament_lu: A = P L U of a dense matrix that all nodes share, with exchanges of rows (partial pivoting).
// It has two phases with a filament for each row, as in section 4.2 of the HyFi paper (Lowenthal,
// Subramanian). Rows are dealt out cyclically. They remain where they are: a table beside them says which row
// is the k-th.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "base/random.hpp"
#include "model/dsm/ordered_copy.hpp"
#include "workloads/blas.hpp"
#include "workloads/filaments.hpp"

namespace heddle::workloads {

namespace {

using namespace filaments;

/// The matrix, row by row: numbers in [-0.5, 0.5), as HPL's.
std::vector<double> row_of_a(std::uint64_t seed, std::int64_t row, std::int64_t n) {
    Random random = Random(seed).split(static_cast<std::uint64_t>(row));
    std::vector<double> values(static_cast<std::size_t>(n));
    for (double& value : values)
        value = static_cast<double>(random.below(std::uint64_t{1} << 53)) * 0x1p-53 - 0.5;
    return values;
}

/// The largest number in a column, and its place. Of equal ones the first, as LAPACK takes it.
struct Pivot {
    double size;
    std::int64_t place;  ///< in the order of the rows after the exchanges so far
};
struct FirstLargest {
    Pivot operator()(const Pivot& a, const Pivot& b) const {
        return b.size > a.size || (b.size == a.size && b.place < a.place) ? b : a;
    }
};
constexpr Pivot no_pivot{-1, std::numeric_limits<std::int64_t>::max()};

/// The order of rows, to which exchanges are applied.
class Order {
public:
    explicit Order(std::int64_t n) : row_at_(static_cast<std::size_t>(n)), place_of_(row_at_.size()) {
        std::iota(row_at_.begin(), row_at_.end(), 0);
        std::iota(place_of_.begin(), place_of_.end(), 0);
    }
    std::int64_t row_at(std::int64_t place) const { return row_at_[static_cast<std::size_t>(place)]; }
    std::int64_t place_of(std::int64_t row) const { return place_of_[static_cast<std::size_t>(row)]; }
    void exchange(std::int64_t a, std::int64_t b) {
        std::swap(row_at_[static_cast<std::size_t>(a)], row_at_[static_cast<std::size_t>(b)]);
        place_of_[static_cast<std::size_t>(row_at(a))] = a;
        place_of_[static_cast<std::size_t>(row_at(b))] = b;
    }

private:
    std::vector<std::int64_t> row_at_;
    std::vector<std::int64_t> place_of_;
};

class Lu final : public ArrayProgram {
public:
    explicit Lu(const Settings& settings)
        : ArrayProgram(settings),
          n_(settings.integer("n")),
          seed_(settings.integer<std::uint64_t>("matrix_seed")),
          order_(n_) {}

    void main(Filaments& fil) override {
        a_ = allocate(fil, "A", n_);
        fil.seal();
        find(fil, a_);
        auto& first =
            fil.create_phase<&Lu::begin, nullptr, &Lu::row_touches>(*this, {.units = 0, .at_once = 1});
        auto& pivot = fil.create_phase<&Lu::pivot, &Lu::exchange, &Lu::pivot_touches>(
            *this, {.units = 1, .at_once = 1, .skip = skips()});
        auto& elimination = fil.create_phase<&Lu::eliminate, &Lu::next, &Lu::elimination_touches>(
            *this, {.units = 0, .at_once = 1, .skip = skips()});
        fil.repeat_in_sequence(pivot, elimination);
        const auto capacity = static_cast<std::uint64_t>(n_);
        auto& beginnings = fil.create_pool_array(first, capacity, pools());
        auto& pivots = fil.create_pool_array(pivot, capacity, pools());
        auto& eliminations = fil.create_pool_array(elimination, capacity, pools());
        const auto mine = cyclic(0, n_, fil.nodes(), pivots.size()).of(fil.my_node());
        for (const auto [row, pool] : mine) {
            fil.create_filament(beginnings[pool], row);
            fil.create_filament(pivots[pool], row);
            fil.create_filament(eliminations[pool], row);
        }
        fil.start();
        show(fil, a_, mine);
    }

    runtime::Answer answer() const override {
        // The same on every node.
        return {{"exchanges", static_cast<double>(exchanges_), runtime::AnswerValue::Combine::max}};
    }

private:
    void begin(Processor&, std::int64_t row) {
        const auto values = row_of_a(seed_, row, n_);
        dsm::copy_in_order(values.data(), values.size(), a_.row(row));
    }
    void row_touches(Ranges& ranges, std::int64_t row, std::uint64_t count) {
        ranges.writes(a_.shared, a_.place(row, 0), count * a_.stride);
    }

    // --- the first phase: the largest number of column k in rows that are not done
    void pivot(Processor& self, std::int64_t row) {
        const std::int64_t place = order_.place_of(row);
        if (place < k_) return;
        auto& best = self.value(pivot_);
        best = FirstLargest{}(best, {std::fabs(a_.at(row, k_)), place});
    }
    void pivot_touches(Ranges& ranges, std::int64_t row, std::uint64_t /*one*/) {
        if (order_.place_of(row) >= k_) ranges.reads(a_.shared, a_.place(row, k_), 1);
    }
    PostPhase exchange(Filaments& fil) {
        Pivot best = fil.reduce(pivot_, FirstLargest{});
        fil.value(pivot_) = no_pivot;
        if (skips()) best = {1, k_};
        if (!(best.size > 0)) {
            throw Error(fmt::format("column {} has no pivot: the matrix is singular", k_),
                        "choose another workload.matrix_seed");
        }
        if (best.place != k_) ++exchanges_;
        order_.exchange(k_, best.place);
        return F_CONTINUE;
    }

    // --- the second: subtracts multiples of the pivot's row from the rows after it
    void eliminate(Processor& self, std::int64_t row) {
        if (order_.place_of(row) <= k_) return;
        self.work(static_cast<std::uint64_t>(n_ - k_));
        const double* const from = a_.row(order_.row_at(k_));
        double* const to = a_.row(row);
        const double factor = to[k_] / from[k_];
        to[k_] = factor;
        for (std::int64_t j = k_ + 1; j < n_; ++j) to[j] -= factor * from[j];
    }
    void elimination_touches(Ranges& ranges, std::int64_t row, std::uint64_t /*one*/) {
        if (order_.place_of(row) <= k_) return;
        const auto count = static_cast<std::uint64_t>(n_ - k_);
        ranges.reads(a_.shared, a_.place(order_.row_at(k_), k_), count);
        ranges.writes(a_.shared, a_.place(row, k_), count);
        ranges.work(count);
    }
    PostPhase next(Filaments&) { return ++k_ >= n_ - 1 ? F_DONE : F_CONTINUE; }

    std::int64_t n_;
    std::uint64_t seed_;
    SharedMatrix a_;
    Order order_;
    Reduction<Pivot> pivot_{*this, "pivot", no_pivot};
    std::int64_t k_ = 0;
    std::uint64_t exchanges_ = 0;
};

/// A factorization by rows: L below the diagonal, U on it and above, and the order of the rows of A.
struct Factors {
    std::vector<double> lu;          ///< in the order of the rows of A
    std::vector<std::int64_t> rows;  ///< the row of A that is the k-th of L U

    const double* row(std::size_t place) const {
        return lu.data() + static_cast<std::size_t>(rows[place]) * rows.size();
    }
};

std::vector<double> matrix(std::uint64_t seed, std::int64_t n) {
    std::vector<double> a;
    for (std::int64_t i = 0; i < n; ++i) {
        const auto row = row_of_a(seed, i, n);
        a.insert(a.end(), row.begin(), row.end());
    }
    return a;
}

/// The sequential program. It exchanges rows as the other one does.
Factors sequential(std::vector<double> a, std::int64_t n) {
    const auto size = static_cast<std::size_t>(n);
    Order order(n);
    for (std::int64_t k = 0; k + 1 < n; ++k) {
        Pivot best = no_pivot;
        const auto column = static_cast<std::size_t>(k);
        for (std::int64_t place = k; place < n; ++place)
            best = FirstLargest{}(
                best, {std::fabs(a[static_cast<std::size_t>(order.row_at(place)) * size + column]), place});
        order.exchange(k, best.place);
        const double* const from = a.data() + static_cast<std::size_t>(order.row_at(k)) * size;
        for (std::int64_t place = k + 1; place < n; ++place) {
            double* const to = a.data() + static_cast<std::size_t>(order.row_at(place)) * size;
            const double factor = to[column] / from[column];
            to[column] = factor;
            for (std::size_t j = column + 1; j < size; ++j) to[j] -= factor * from[j];
        }
    }
    Factors factors{std::move(a), {}};
    for (std::int64_t place = 0; place < n; ++place) factors.rows.push_back(order.row_at(place));
    return factors;
}

/// The order of rows that LAPACK finds; nothing where the library is not there.
std::optional<std::vector<std::int64_t>> lapack_order(const std::vector<double>& a, std::int64_t n) {
    const auto size = static_cast<std::size_t>(n);
    const Blas* library = nullptr;
    try {
        library = &blas();
    } catch (const Error&) {
        return std::nullopt;
    }
    std::vector<double> by_columns(a.size());
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = 0; j < size; ++j) by_columns[j * size + i] = a[i * size + j];
    auto order_of = static_cast<blasint>(n);
    std::vector<blasint> exchanged(size);
    blasint info = 0;
    library->dgetrf(&order_of, &order_of, by_columns.data(), &order_of, exchanged.data(), &info);
    Order order(n);
    for (std::int64_t k = 0; k < n; ++k) order.exchange(k, exchanged[static_cast<std::size_t>(k)] - 1);
    std::vector<std::int64_t> rows;
    for (std::int64_t place = 0; place < n; ++place) rows.push_back(order.row_at(place));
    return rows;
}

/// ||A x - b|| / (eps (||A|| ||x|| + ||b||) n) in the infinity norm, for b of ones: HPL's, which passes
/// below 16.
double residual(const std::vector<double>& a, const Factors& factors) {
    const std::size_t n = factors.rows.size();
    std::vector<double> x(n, 1.0);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < i; ++j) x[i] -= factors.row(i)[j] * x[j];
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t j = i + 1; j < n; ++j) x[i] -= factors.row(i)[j] * x[j];
        x[i] /= factors.row(i)[i];
    }
    double difference = 0;
    double norm_a = 0;
    double norm_x = 0;
    for (std::size_t i = 0; i < n; ++i) {
        double product = 0;
        double sum = 0;
        for (std::size_t j = 0; j < n; ++j) {
            product += a[i * n + j] * x[j];
            sum += std::fabs(a[i * n + j]);
        }
        difference = std::max(difference, std::fabs(product - 1));
        norm_a = std::max(norm_a, sum);
        norm_x = std::max(norm_x, std::fabs(x[i]));
    }
    return difference /
           (std::numeric_limits<double>::epsilon() * (norm_a * norm_x + 1) * static_cast<double>(n));
}

class LuWorkload final : public FilamentWorkload {
public:
    explicit LuWorkload(const Settings& settings)
        : settings_(settings),
          n_(settings.integer("n")),
          seed_(settings.integer<std::uint64_t>("matrix_seed")) {}

    std::unique_ptr<runtime::Program> program(NodeId /*node*/) const override {
        return std::make_unique<Lu>(settings_);
    }

    Verdict check(const runtime::RunResult& result) const override {
        if (settings_.text("kernels") == "skip") return skipped();
        const auto a = matrix(seed_, n_);
        const Factors expected = sequential(a, n_);
        const auto nodes = static_cast<NodeId>(result.evidence.size());
        const Factors found{shown_rows(result, cyclic(0, n_, nodes, 1), n_), expected.rows};
        const std::string difference = first_difference(found.lu, expected.lu, n_);
        if (!difference.empty()) return {Verdict::Kind::wrong, difference};
        const double error = residual(a, found);
        constexpr double allowed = 16;
        if (!(error < allowed))
            return {Verdict::Kind::wrong,
                    fmt::format("HPL's residual is {}, and {} is allowed", error, allowed)};
        const auto rows = lapack_order(a, n_);
        if (rows && *rows != found.rows) return {Verdict::Kind::wrong, "LAPACK exchanges other rows"};
        return {Verdict::Kind::right,
                fmt::format("the sequential program's bits; HPL's residual is {:.3g}, below {}{}", error,
                            allowed, rows ? "; LAPACK exchanges the same rows" : "")};
    }

protected:
    /// A, of which each row is a pivot's row that comes to other nodes. Node 0 gathers its factors, and the
    /// check has A, the factors, the sequential program's and, where the library is there, LAPACK's besides.
    MemoryTaken memory(const WorkerGrid& grid, const runtime::SharedPages& pages) const override {
        return memory_of({.moved = 1, .shown = 1, .checked = 4}, settings_, grid, pages);
    }

private:
    Settings settings_;
    std::int64_t n_;
    std::uint64_t seed_;
};

const Registration registration{
    {"filament_lu",
     "LU decomposition of a matrix that all nodes share, with exchanges of rows, a filament for each row",
     FilamentWorkload::settings(
         {{"n", SettingKind::integer, "128", "rows and columns", {}, 2, 20'000},
          {"matrix_seed", SettingKind::integer, "1", "of the random matrix", {}, 0, 1e9}},
         "one element of a row", "2f", "0B"),
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<LuWorkload>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
