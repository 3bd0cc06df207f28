// nas_cg: the NAS Parallel Benchmark CG over shared memory, a filament for each row of the matrix in each of
// its phases (Bailey et al.: "The NAS Parallel Benchmarks", RNR-94-007, section 2.2.3). The inverse power
// method finds the smallest eigenvalue of a sparse matrix; a system is solved by 25 steps of conjugate
// gradients.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/dsm/ordered_copy.hpp"
#include "workloads/filaments.hpp"
#include "workloads/nas_random.hpp"

namespace heddle::workloads {

namespace {

using namespace filaments;

/// A size of the problem, and its published answer.
struct CgClass {
    std::string name;
    std::int64_t n;
    std::size_t nonzeros;  ///< of each vector that the matrix is made of, beside its own place
    double shift;
    double zeta;
};
const std::vector<CgClass>& cg_classes() {
    static const std::vector<CgClass> all{{"S", 1400, 7, 10, 8.5971775078648},
                                          {"W", 7000, 8, 12, 10.362595087124},
                                          {"A", 14000, 11, 20, 17.130235054029}};
    return all;
}
const CgClass& cg_class(const std::string& name) {
    return *std::ranges::find(cg_classes(), name, &CgClass::name);
}

constexpr int iterations = 15;       ///< of the inverse power method
constexpr int steps = 25;            ///< of conjugate gradients in each
constexpr double tolerance = 1e-10;  ///< of zeta, relative: the published check's

/// By rows: row i has elements `starts[i]` to `starts[i + 1] - 1`, in the order of their columns.
struct SparseMatrix {
    std::vector<std::uint64_t> starts;
    std::vector<std::int32_t> columns;
    std::vector<double> values;
};

struct Element {
    std::int32_t place;
    double value;
};
using SparseVector = std::vector<Element>;

/// Random elements at random places, all different, and then 0.5 at place `own`.
SparseVector sparse_vector(const CgClass& size, std::int32_t own, NasRandom& random) {
    unsigned log_2 = 1;  // places are drawn below the next power of two
    while (std::int64_t{1} << log_2 < size.n) ++log_2;
    SparseVector vector;
    while (vector.size() < size.nonzeros) {
        const double value = random.next_fraction();
        const auto place = static_cast<std::int32_t>(random.next() >> (NasRandom::bits - log_2));
        if (place < size.n && std::ranges::find(vector, place, &Element::place) == vector.end())
            vector.push_back({place, value});
    }
    constexpr double own_value = 0.5;
    const auto at = std::ranges::find(vector, own, &Element::place);
    if (at == vector.end()) {
        vector.push_back({own, own_value});
    } else {
        at->value = own_value;
    }
    return vector;
}

/// The sum of w_i x_i x_i' over random sparse vectors x_i, with weights w_i in geometric progression from 1
/// to `condition`, plus (condition - shift) times the identity.
SparseMatrix sparse_matrix(const CgClass& size) {
    constexpr double condition = 0.1;
    NasRandom random(1);  // the first number is not used
    std::vector<SparseVector> vectors;
    std::vector<SparseVector> rows(static_cast<std::size_t>(size.n));  ///< which vectors a row is made of
    for (std::int32_t i = 0; i < size.n; ++i) {
        vectors.push_back(sparse_vector(size, i, random));
        for (const Element& element : vectors.back())
            rows[static_cast<std::size_t>(element.place)].push_back({i, element.value});
    }
    std::vector<double> weights{1};
    const double ratio = std::pow(condition, 1 / static_cast<double>(size.n));
    while (weights.size() < vectors.size()) weights.push_back(weights.back() * ratio);

    SparseMatrix matrix{{0}, {}, {}};
    SparseVector sums;
    for (std::int32_t i = 0; i < size.n; ++i) {
        sums.assign(1, {i, condition - size.shift});
        for (const auto& [vector, value] : rows[static_cast<std::size_t>(i)]) {
            const double factor = weights[static_cast<std::size_t>(vector)] * value;
            for (const Element& element : vectors[static_cast<std::size_t>(vector)])
                sums.push_back({element.place, element.value * factor});
        }
        std::ranges::stable_sort(sums, {}, &Element::place);
        for (std::size_t k = 0; k < sums.size(); ++k) {
            if (k == 0 || sums[k].place != sums[k - 1].place) {
                matrix.columns.push_back(sums[k].place);
                matrix.values.push_back(sums[k].value);
            } else {
                matrix.values.back() += sums[k].value;
            }
        }
        matrix.starts.push_back(matrix.columns.size());
    }
    return matrix;
}

/// An array that all nodes share, and where it lies on this node.
template <class T>
struct Array {
    dsm::Shared<T> shared;
    T* here = nullptr;

    T& operator[](std::int64_t place) const { return here[place]; }
};

/// Sums over all rows at the end of an iteration.
struct Norms {
    double x_z = 0;
    double z_z = 0;
    double residual = 0;  ///< of (x - A z)^2

    friend Norms operator+(const Norms& a, const Norms& b) {
        return {a.x_z + b.x_z, a.z_z + b.z_z, a.residual + b.residual};
    }
};

class Cg final : public SharedProgram {
public:
    Cg(const Settings& settings, const CgClass& size, const SparseMatrix& matrix)
        : SharedProgram(settings),
          size_(size),
          matrix_(matrix),
          aligned_(settings.text("parts") == "aligned") {}

    void main(Filaments& fil) override {
        share(fil);
        mine_ = block(0, size_.n, fil.nodes(), fil.processors() * pools()).of(fil.my_node());
        parts_ = block(0, fil.nodes(), 1, fil.processors() * pools()).of(0);
        const Part& own = part(fil.my_node());
        shift_ = own.place - own.first;
        matrix_shift_ = static_cast<std::uint64_t>(own.matrix_place) - start(own.first);  // modulo 2^64
        copy_.resize(static_cast<std::size_t>(size_.n));
        fill(fil, fil.create_phase<&Cg::begin, &Cg::begun, &Cg::begin_touches>(*this, {.units = 0}), mine_);
        fil.start();
        for (int i = 0; i < iterations; ++i) iterate(fil);
    }

    runtime::Answer answer() const override {
        // The same on every node.
        using Combine = runtime::AnswerValue::Combine;
        return {{"zeta", zeta_, Combine::max}, {"residual", residual_, Combine::max}};
    }

private:
    /// What is dealt out to one node: rows of the matrix, and their elements of vectors.
    struct Part {
        std::int64_t first;  ///< row
        std::int64_t count;
        std::int64_t place;         ///< of the first row in a vector in shared memory
        std::int64_t matrix_place;  ///< of its first element in the matrix in shared memory
    };
    const Part& part(std::int64_t node) const { return part_of_[static_cast<std::size_t>(node)]; }

    void share(Filaments& fil) {
        const auto page = static_cast<std::int64_t>(fil.memory().page_bytes());
        const auto aligned = [&](std::int64_t place, std::int64_t element_bytes) {
            const std::int64_t elements = page / element_bytes;
            return aligned_ ? (place + elements - 1) / elements * elements : place;
        };
        const Distribution rows = block(0, size_.n, fil.nodes(), 1);
        Part next{0, 0, 0, 0};
        for (NodeId node = 0; node < fil.nodes(); ++node) {
            next.count = static_cast<std::int64_t>(rows.of(node).size());
            next.place = aligned(next.place, sizeof(double));
            next.matrix_place = aligned(next.matrix_place, sizeof(std::int32_t));
            part_of_.push_back(next);
            next.matrix_place +=
                static_cast<std::int64_t>(elements(next.first, static_cast<std::uint64_t>(next.count)));
            next.first += next.count;
            next.place += next.count;
        }
        const auto length = static_cast<std::uint64_t>(next.place);
        const auto matrix_length = static_cast<std::uint64_t>(next.matrix_place);
        columns_.shared = fil.memory().allocate<std::int32_t>("columns", matrix_length);
        values_.shared = fil.memory().allocate<double>("values", matrix_length);
        for (auto& [name, vector] : vectors()) vector->shared = fil.memory().allocate<double>(name, length);
        fil.seal();
        columns_.here = fil.memory().at(columns_.shared);
        values_.here = fil.memory().at(values_.shared);
        for (auto& [name, vector] : vectors()) vector->here = fil.memory().at(vector->shared);
    }
    std::vector<std::pair<const char*, Array<double>*>> vectors() {
        return {{"x", &x_}, {"z", &z_}, {"p", &p_}, {"q", &q_}, {"r", &r_}};
    }

    template <auto code>
    void fill(Filaments& fil, Phase<code>& phase, const std::vector<Iteration>& filaments) {
        auto& array = fil.create_pool_array(phase, filaments.size(), pools());
        for (const auto [index, pool] : filaments) fil.create_filament(array[pool], index);
    }

    void iterate(Filaments& fil) {
        const PhaseOptions copies{.units = 0, .skip = skips()};
        auto& gather_p = fil.create_phase<&Cg::gather, nullptr, &Cg::gather_touches>(*this, copies);
        auto& multiply = fil.create_phase<&Cg::multiply, &Cg::multiplied, &Cg::multiply_touches>(
            *this, {.units = 0, .skip = skips()});
        auto& advance = fil.create_phase<&Cg::advance, &Cg::advanced, &Cg::advance_touches>(
            *this, {.units = 3, .skip = skips()});
        auto& turn = fil.create_phase<&Cg::turn, &Cg::turned, &Cg::turn_touches>(*this, {.skip = skips()});
        auto& gather_z = fil.create_phase<&Cg::gather, nullptr, &Cg::gather_touches>(*this, copies);
        auto& judge = fil.create_phase<&Cg::judge, &Cg::judged, &Cg::judge_touches>(
            *this, {.units = 0, .skip = skips()});
        auto& renew = fil.create_phase<&Cg::renew, &Cg::begun, &Cg::renew_touches>(
            *this, {.units = 2, .skip = skips()});
        fil.repeat_in_sequence(gather_p, multiply, advance, turn);
        fill(fil, gather_p, parts_);
        fill(fil, multiply, mine_);
        fill(fil, advance, mine_);
        fill(fil, turn, mine_);
        fill(fil, gather_z, parts_);
        fill(fil, judge, mine_);
        fill(fil, renew, mine_);
        fil.start();
    }

    // --- the start: this row of the matrix, and x of ones
    void begin(Processor& self, std::int64_t row) {
        for (std::uint64_t k = start(row); k < start(row + 1); ++k) {
            columns_.here[k + matrix_shift_] = matrix_.columns[k];
            values_.here[k + matrix_shift_] = matrix_.values[k];
        }
        begin_at(self, row + shift_, 1);
    }
    void begin_touches(Ranges& ranges, std::int64_t row, std::uint64_t count) {
        ranges.writes(columns_.shared, start(row) + matrix_shift_, elements(row, count));
        ranges.writes(values_.shared, start(row) + matrix_shift_, elements(row, count));
        renew_touches(ranges, row, count);
    }
    /// Begins conjugate gradients for A z = x with z = 0.
    void begin_at(Processor& self, std::int64_t at, double x) {
        x_[at] = r_[at] = p_[at] = x;
        z_[at] = 0;
        self.value(sum_) += x * x;
    }
    PostPhase begun(Filaments& fil) {
        rho_ = total(fil);
        gathered_ = &p_;
        return F_DONE;
    }

    // --- a node copies a vector once, because its rows read each element many times: a part is a filament
    void gather(Processor&, std::int64_t node) {
        const Part& of = part(node);
        dsm::copy_in_order(gathered_->here + of.place, of.count, copy_.data() + of.first);
    }
    void gather_touches(Ranges& ranges, std::int64_t node, std::uint64_t count) {
        const Part& last = part(node + static_cast<std::int64_t>(count) - 1);
        const std::int64_t from = part(node).place;
        ranges.reads(gathered_->shared, static_cast<std::uint64_t>(from),
                     static_cast<std::uint64_t>(last.place + last.count - from));
    }

    // --- a step of conjugate gradients: q = A p
    void multiply(Processor& self, std::int64_t row) {
        const std::int64_t at = row + shift_;
        q_[at] = product(row);
        self.value(sum_) += p_[at] * q_[at];
        self.work(elements(row, 1) + 1);
    }
    void multiply_touches(Ranges& ranges, std::int64_t row, std::uint64_t count) {
        product_touches(ranges, row, count);
        ranges.reads(p_.shared, place(row), count);
        ranges.writes(q_.shared, place(row), count);
        ranges.work(elements(row, count) + count);
    }
    PostPhase multiplied(Filaments& fil) {
        alpha_ = rho_ / total(fil);
        return F_CONTINUE;
    }

    // --- the solution and the residual go on along p
    void advance(Processor& self, std::int64_t row) {
        const std::int64_t at = row + shift_;
        z_[at] += alpha_ * p_[at];
        r_[at] -= alpha_ * q_[at];
        self.value(sum_) += r_[at] * r_[at];
    }
    void advance_touches(Ranges& ranges, std::int64_t row, std::uint64_t count) {
        ranges.reads(p_.shared, place(row), count);
        ranges.reads(q_.shared, place(row), count);
        ranges.writes(z_.shared, place(row), count);
        ranges.writes(r_.shared, place(row), count);
    }
    PostPhase advanced(Filaments& fil) {
        const double rho = total(fil);
        beta_ = rho / rho_;
        rho_ = rho;
        return F_CONTINUE;
    }

    // --- the next direction
    void turn(Processor&, std::int64_t row) {
        const std::int64_t at = row + shift_;
        p_[at] = r_[at] + beta_ * p_[at];
    }
    void turn_touches(Ranges& ranges, std::int64_t row, std::uint64_t count) {
        ranges.reads(r_.shared, place(row), count);
        ranges.writes(p_.shared, place(row), count);
    }
    PostPhase turned(Filaments&) {
        if (++step_ < steps) return F_CONTINUE;
        step_ = 0;
        gathered_ = &z_;
        return F_DONE;
    }

    // --- the end of an iteration: zeta, and the residual by its definition
    void judge(Processor& self, std::int64_t row) {
        const std::int64_t at = row + shift_;
        const double difference = x_[at] - product(row);
        auto& norms = self.value(norms_);
        norms = norms + Norms{x_[at] * z_[at], z_[at] * z_[at], difference * difference};
        self.work(elements(row, 1) + 3);
    }
    void judge_touches(Ranges& ranges, std::int64_t row, std::uint64_t count) {
        product_touches(ranges, row, count);
        ranges.reads(x_.shared, place(row), count);
        ranges.reads(z_.shared, place(row), count);
        ranges.work(elements(row, count) + 3 * count);
    }
    PostPhase judged(Filaments& fil) {
        const Norms norms = fil.reduce(norms_, add);
        fil.value(norms_) = {};
        zeta_ = size_.shift + 1 / norms.x_z;
        residual_ = std::sqrt(norms.residual);
        scale_ = 1 / std::sqrt(norms.z_z);
        return F_DONE;
    }

    // --- the next iteration's x is z of length one
    void renew(Processor& self, std::int64_t row) {
        const std::int64_t at = row + shift_;
        begin_at(self, at, scale_ * z_[at]);
    }
    void renew_touches(Ranges& ranges, std::int64_t row, std::uint64_t count) {
        for (const Array<double>* const vector : {&x_, &z_, &p_, &r_})
            ranges.writes(vector->shared, place(row), count);
    }

    /// A row of the matrix times the vector that was gathered.
    double product(std::int64_t row) const {
        const std::uint64_t end = start(row + 1) + matrix_shift_;
        double sum = 0;
        for (std::uint64_t k = start(row) + matrix_shift_; k < end; ++k)
            sum += values_.here[k] * copy_[static_cast<std::size_t>(columns_.here[k])];
        return sum;
    }
    void product_touches(Ranges& ranges, std::int64_t row, std::uint64_t count) const {
        ranges.reads(columns_.shared, start(row) + matrix_shift_, elements(row, count));
        ranges.reads(values_.shared, start(row) + matrix_shift_, elements(row, count));
    }

    /// What the filaments have added to `sum`, which begins again.
    double total(Filaments& fil) {
        const double all = fil.reduce(sum_, add);
        fil.value(sum_) = 0;
        return all;
    }

    std::uint64_t place(std::int64_t row) const { return static_cast<std::uint64_t>(row + shift_); }
    std::uint64_t start(std::int64_t row) const { return matrix_.starts[static_cast<std::size_t>(row)]; }
    /// Of so many rows from this one on.
    std::uint64_t elements(std::int64_t row, std::uint64_t count) const {
        return start(row + static_cast<std::int64_t>(count)) - start(row);
    }

    const CgClass& size_;
    const SparseMatrix& matrix_;  ///< as it is generated: `begin` brings it into shared memory
    bool aligned_;
    std::vector<Part> part_of_;       ///< each node
    std::vector<Iteration> mine_;     ///< rows of this node
    std::vector<Iteration> parts_;    ///< of all nodes, dealt out over this node's pools
    std::int64_t shift_ = 0;          ///< from this node's rows to their places in vectors
    std::uint64_t matrix_shift_ = 0;  ///< and of their elements of the matrix
    Array<std::int32_t> columns_;
    Array<double> values_, x_, z_, p_, q_, r_;
    Array<double>* gathered_ = &p_;
    std::vector<double> copy_;
    Reduction<double> sum_{*this, "sum"};
    Reduction<Norms> norms_{*this, "norms"};
    int step_ = 0;
    double rho_ = 0;  ///< r'r
    double alpha_ = 0;
    double beta_ = 0;
    double scale_ = 1;
    double zeta_ = 0;
    double residual_ = 0;
};

class CgWorkload final : public FilamentWorkload {
public:
    explicit CgWorkload(const Settings& settings)
        : settings_(settings), size_(cg_class(settings.text("class"))), matrix_(sparse_matrix(size_)) {}

    std::unique_ptr<runtime::Program> program(NodeId /*node*/) const override {
        return std::make_unique<Cg>(settings_, size_, matrix_);
    }

    Verdict check(const runtime::RunResult& result) const override {
        if (settings_.text("kernels") == "skip") return skipped();
        const auto found = std::ranges::find(result.answer, "zeta", &runtime::AnswerValue::name);
        if (found == result.answer.end()) return {Verdict::Kind::wrong, "no zeta in the answer"};
        const double error = std::abs(found->value - size_.zeta) / size_.zeta;
        // A zeta that is no number is wrong too.
        if (!(error <= tolerance)) {
            return {Verdict::Kind::wrong,
                    fmt::format("zeta is {:.13f}, and {:.13f} is published for class {}", found->value,
                                size_.zeta, size_.name)};
        }
        return {Verdict::Kind::right, fmt::format("zeta is within {} of {:.13f}, published for class {}",
                                                  tolerance, size_.zeta, size_.name)};
    }

private:
    Settings settings_;
    const CgClass& size_;
    SparseMatrix matrix_;
};

const Registration registration{
    {"nas_cg",
     "NAS Parallel Benchmark CG: the smallest eigenvalue of a sparse matrix that all nodes share, a filament "
     "for "
     "each row",
     FilamentWorkload::common_settings(
         {{"class",
           SettingKind::choice,
           "S",
           "the published size: S has 1400 rows, W 7000, A 14000",
           {"S", "W", "A"}},
          {"parts",
           SettingKind::choice,
           "aligned",
           "aligned: each node's part of a vector begins on a page of its own; packed: one after the other",
           {"packed", "aligned"}}},
         "one product and sum", "2f", "0B"),
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<CgWorkload>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
