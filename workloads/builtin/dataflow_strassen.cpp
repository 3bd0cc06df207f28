// dataflow_strassen: multiplies two matrices by Strassen's algorithm, as nested dataflow tasks. The program
// is that of `strassen` in BOTS (Duran et al., ICPP 2009) and KASTORS. What a divided product needs on the
// way are shared objects of its task.
#include "workloads/dataflow_strassen.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/memory_need.hpp"
#include "runtime/comm/wire.hpp"
#include "workloads/workload.hpp"

using heddle::workloads::strassen::Square;

void heddle::runtime::Serialize<Square>::write(Writer& writer, const Square& square) {
    writer.put_size(square.rows());
    writer.put_bytes(std::as_bytes(square.numbers()));
}

// Rows that are too many ask for more bytes than there are.
Square heddle::runtime::Serialize<Square>::read(Reader& reader) {
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    const std::uint64_t rows = reader.get_size();
    const auto bytes = reader.get_bytes(rows < (1U << 24) ? rows * rows * sizeof(double) : most);
    if (!reader.ok()) return Square(0);
    Square square(rows);
    if (rows != 0) std::memcpy(square.numbers().data(), bytes.data(), bytes.size());
    return square;
}

namespace heddle::workloads {

namespace {

using namespace dataflow;
using strassen::Cost;

constexpr std::uint32_t rows_max = 8192;
constexpr std::size_t seven = strassen::products;

template <class Code>
void compute(Thread& self, const Cost& cost, const Code& code) {
    self.worker().compute({cost.flops, cost.bytes}, code);
}

void make_matrix(Thread& self, std::uint32_t rows, std::uint64_t seed, std::uint64_t which,
                 shared_w<Square> matrix) {
    self.worker().compute({}, [&] { strassen::fill(seed, which, matrix.make(rows)); });
}

void left_factors(Thread& self, shared_r<Square> a, shared_w<Square> a11, shared_w<Square> a12,
                  shared_w<Square> s4, shared_w<Square> a22, shared_w<Square> s1, shared_w<Square> s2,
                  shared_w<Square> s3) {
    const std::size_t rows = a.read().rows(), half = rows / 2;
    compute(self, strassen::cost_of_factors(rows), [&] {
        strassen::left_factors(a.read(), {&a11.make(half), &a12.make(half), &s4.make(half), &a22.make(half),
                                          &s1.make(half), &s2.make(half), &s3.make(half)});
    });
}

void right_factors(Thread& self, shared_r<Square> b, shared_w<Square> b11, shared_w<Square> b21,
                   shared_w<Square> b22, shared_w<Square> t4, shared_w<Square> t1, shared_w<Square> t2,
                   shared_w<Square> t3) {
    const std::size_t rows = b.read().rows(), half = rows / 2;
    compute(self, strassen::cost_of_factors(rows), [&] {
        strassen::right_factors(b.read(), {&b11.make(half), &b21.make(half), &b22.make(half), &t4.make(half),
                                           &t1.make(half), &t2.make(half), &t3.make(half)});
    });
}

void multiply(Thread& self, std::uint32_t cutoff, shared_r<Square> a, shared_r<Square> b,
              shared_w<Square> c) {
    const std::size_t rows = a.read().rows();
    compute(self, strassen::cost_of_product(rows, cutoff),
            [&] { strassen::multiply(a.read(), b.read(), c.make(rows), cutoff); });
}

void combine(Thread& self, shared_r<Square> p1, shared_r<Square> p2, shared_r<Square> p3, shared_r<Square> p4,
             shared_r<Square> p5, shared_r<Square> p6, shared_r<Square> p7, shared_w<Square> c) {
    const std::size_t rows = 2 * p1.read().rows();
    compute(self, strassen::cost_of_combining(rows), [&] {
        strassen::combine(
            {&p1.read(), &p2.read(), &p3.read(), &p4.read(), &p5.read(), &p6.read(), &p7.read()},
            c.make(rows));
    });
}

using Objects = std::array<shared<Square>, seven>;

Objects declare_seven(Thread& self) {
    return {shared<Square>(self), shared<Square>(self), shared<Square>(self), shared<Square>(self),
            shared<Square>(self), shared<Square>(self), shared<Square>(self)};
}

void divide(Thread& self, StrassenProduct product, shared_rp<Square> a, shared_rp<Square> b,
            shared_wp<Square> c);

template <class A, class B, class C>
void fork_product(Thread& self, const StrassenProduct& product, const A& a, const B& b, const C& c) {
    if (product.forks()) {
        self.fork<divide>(product, a, b, c);
    } else {
        self.fork<multiply>(product.cutoff, a, b, c);
    }
}

void divide(Thread& self, StrassenProduct product, shared_rp<Square> a, shared_rp<Square> b,
            shared_wp<Square> c) {
    const Objects left = declare_seven(self), right = declare_seven(self), products = declare_seven(self);
    std::apply([&](const auto&... factor) { self.fork<left_factors>(a, factor...); }, left);
    std::apply([&](const auto&... factor) { self.fork<right_factors>(b, factor...); }, right);
    for (std::size_t i = 0; i < seven; ++i)
        fork_product(self, product.half(), left[i], right[i], products[i]);
    std::apply([&](const auto&... factor) { self.fork<combine>(factor..., c); }, products);
}

struct Matrices {
    StrassenProduct product;
    std::uint64_t seed;
};

class DataflowStrassen final : public DataflowProgram {
public:
    explicit DataflowStrassen(const Matrices& matrices) : matrices_(matrices) {}

    void main(Thread& self) override {
        const shared<Square> a(self), b(self), c(self);
        self.fork<make_matrix>(matrices_.product.rows, matrices_.seed, std::uint64_t{0}, a);
        self.fork<make_matrix>(matrices_.product.rows, matrices_.seed, std::uint64_t{1}, b);
        fork_strassen(self, matrices_.product, a, b, c);
        self.sync();
        const tiles::ConstTile found = c.read().numbers();
        self.worker().compute({}, [&] { found_.assign(found.begin(), found.end()); });
    }

    runtime::Answer answer() const override {
        if (found_.empty()) return {};
        double sum = 0;
        for (const double number : found_) sum += number;
        return {{"sum", sum}};
    }
    runtime::Bytes evidence() const override {
        const auto bytes = std::as_bytes(std::span(found_));
        return {bytes.begin(), bytes.end()};
    }

private:
    Matrices matrices_;
    std::vector<double> found_;
};

class DataflowStrassenWorkload final : public Workload {
public:
    explicit DataflowStrassenWorkload(const Settings& settings)
        : matrices_{{settings.integer<std::uint32_t>("rows"), settings.integer<std::uint32_t>("cutoff"),
                     settings.integer<std::uint32_t>("depth")},
                    settings.integer<std::uint64_t>("matrix_seed")} {
        for (std::uint32_t rows = matrices_.product.rows; rows > matrices_.product.cutoff; rows /= 2)
            if (rows % 2 != 0)
                throw Error(
                    fmt::format("a matrix of {} rows is divided until it has at most {}, and {} is odd",
                                matrices_.product.rows, matrices_.product.cutoff, rows),
                    "let rows be cutoff times a power of two", settings.where("rows"));
    }

    void prepare(const ClusterView& /*cluster*/, const runtime::Schedule& /*schedule*/) override {
        // The factors and the product, those of one division at a time with its sums, and the check's.
        const double rows = matrices_.product.rows;
        need_memory(8 * sizeof(double) * rows * rows,
                    fmt::format("products of matrices of {0} x {0}", matrices_.product.rows),
                    "lower workload.rows");
        tiles::use_callers_thread_only();
    }
    std::unique_ptr<runtime::Program> program(NodeId /*node*/) const override {
        return std::make_unique<DataflowStrassen>(matrices_);
    }

    Verdict check(const runtime::RunResult& result) const override {
        const std::size_t rows = matrices_.product.rows;
        Square a(rows), b(rows), c(rows);
        strassen::fill(matrices_.seed, 0, a);
        strassen::fill(matrices_.seed, 1, b);
        tiles::set_product(rows, a.numbers(), b.numbers(), c.numbers());
        double sum = 0;
        for (const double number : c.numbers()) sum += number;
        const std::string known = "the plain product, number by number";
        const Verdict summed =
            judge(result.answer,
                  {{"sum", sum}, {"closures", static_cast<double>(2 + strassen_closures(matrices_.product))}},
                  known);
        if (summed.kind == Verdict::Kind::wrong) return summed;
        const auto expected = std::as_bytes(c.numbers());
        if (result.evidence.empty() || !std::ranges::equal(result.evidence.front(), expected))
            return {Verdict::Kind::wrong, "node 0 does not show the plain product"};
        return {Verdict::Kind::right, known};
    }

    std::vector<const runtime::TaskType*> tasks() const override {
        return {&Task<make_matrix>::travelling,  &Task<divide>::travelling,
                &Task<left_factors>::travelling, &Task<right_factors>::travelling,
                &Task<multiply>::travelling,     &Task<combine>::travelling};
    }

private:
    Matrices matrices_;
};

const Registration registration{
    {"dataflow_strassen",
     "the product of two matrices by Strassen's algorithm, as nested dataflow tasks",
     {{"rows", SettingKind::integer, "256", "of the matrices, which are square", {}, 1, rows_max},
      {"cutoff",
       SettingKind::integer,
       "64",
       "products of at most so many rows are plain ones",
       {},
       1,
       rows_max},
      {"depth",
       SettingKind::integer,
       "2",
       "levels of divided products that are tasks; those below are calls",
       {},
       0,
       13},
      {"matrix_seed", SettingKind::integer, "1", "of the numbers in the matrices", {}, 0, integer_max}},
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<DataflowStrassenWorkload>(settings);
     }}};

}  // namespace

void fork_strassen(Thread& self, const StrassenProduct& product, const shared<Square>& a,
                   const shared<Square>& b, const shared<Square>& c) {
    fork_product(self, product, a, b, c);
}

std::uint64_t strassen_closures(const StrassenProduct& product) {
    return product.forks() ? 4 + seven * strassen_closures(product.half()) : 1;
}

}  // namespace heddle::workloads
