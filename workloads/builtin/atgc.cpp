// atgc: compares two sequences by Smith and Waterman's algorithm, in EARTH (Tremblay et al., section 5:
// ATGC). The matrix is divided into blocks: a thread for each strip of rows, a fiber for each block. A fiber
// runs when the blocks on its left and above are done, so the work moves over the matrix as a wave.
#include <fmt/format.h>

#include <cstring>
#include <map>
#include <memory>

#include "base/memory_need.hpp"
#include "base/output_file.hpp"
#include "workloads/alignment/trace.hpp"
#include "workloads/atgc.hpp"
#include "workloads/earth.hpp"

namespace heddle::workloads {

namespace {

using namespace model::earth;
using namespace alignment;

/// What all nodes of a process share: the problem, and the columns of its blocks.
struct AtgcInput {
    explicit AtgcInput(AtgcProblem given) : problem(std::move(given)) {
        if (problem.pairs()) return;
        const std::span<const Letter> letters(problem.b);
        for (std::size_t at = 0; at < letters.size(); at += problem.columns)
            columns.emplace_back(
                problem.scoring,
                letters.subspan(at, std::min<std::size_t>(problem.columns, letters.size() - at)));
    }

    std::size_t strips() const { return (problem.a.front().size() + problem.rows - 1) / problem.rows; }
    std::span<const Letter> rows(std::size_t strip) const {
        const std::size_t begin = strip * problem.rows;
        return std::span(problem.a.front())
            .subspan(begin, std::min<std::size_t>(problem.rows, problem.a.front().size() - begin));
    }
    runtime::Work cost(std::size_t rows_of_block, std::size_t columns_of_block) const {
        return {
            problem.cell_cost * static_cast<double>(rows_of_block) * static_cast<double>(columns_of_block),
            0};
    }

    AtgcProblem problem;
    std::vector<Columns> columns;
};

class AtgcProgram final : public EarthProgram {
public:
    AtgcProgram(const Settings& settings, const AtgcInput& all) : EarthProgram(settings), input(all) {}
    void main(Em em) override;

    const AtgcInput& input;
};

const AtgcInput& input_of(Em em) {
    return em.program<AtgcProgram>().input;
}

// --- two sequences

/// What strips drop into each other's mailboxes.
struct Item {
    enum Kind : std::uint32_t { successor, edge };
    Kind kind;
    std::uint32_t column = 0;   ///< of blocks: above which block the edge is
    Global<Mailbox> mailbox{};  ///< the successor's
    // Of an edge, the values of its H follow, and where gaps are affine of its F.
};

struct StripParameters {
    std::uint64_t index;
    Global<Mailbox> above;  ///< of the strip above this one
    Global<Mailbox> main;   ///< gets the best of each strip
};

struct Strip : Threaded<Strip, StripParameters> {
    static constexpr auto name = "atgc_strip";

    Mailbox mailbox;
    Global<Mailbox> below;
    std::map<std::uint32_t, std::vector<Score>> edges;  ///< that have come, and not been used
    std::vector<Score> column_h, column_e;
    Score corner = 0;
    std::uint32_t next = 0;  ///< block
    bool knows_below = false;
    bool computing = false;
    Best best;

    void init(Em em) {
        const AtgcInput& input = input_of(em);
        column_h.assign(input.rows(index).size(), 0);
        column_e.assign(column_h.size(), 0);
        const bool last = index + 1 == input.strips();
        knows_below = last;  // the last strip has no strip below it
        em.init_mailbox(mailbox, item);
        // From here on others know of the mailbox, and the exclusive fibers may run.
        if (index != 0) em.drop_in(above, Item{Item::successor, 0, em.to_global(mailbox)});
        if (!last) {
            em.invoke<Strip>(static_cast<NodeId>((index + 1) % em.num_nodes()), index + 1,
                             em.to_global(mailbox), main);
        }
        if (index == 0 && last) em.sync(begin);  // the others go on when something comes
    }

    void take(Em em) {
        const runtime::Bytes bytes = em.retrieve_item_addr(mailbox);
        Item what;
        std::memcpy(&what, bytes.data(), sizeof what);
        if (what.kind == Item::successor) {
            below = what.mailbox;
            knows_below = true;
        } else {
            std::vector<Score>& values = edges[what.column];
            values.resize((bytes.size() - sizeof what) / sizeof(Score));
            std::memcpy(values.data(), bytes.data() + sizeof what, values.size() * sizeof(Score));
        }
        go_on(em);
    }
    ExclusiveFiber<&Strip::take> item{*this, 1};

    void go_on(Em em) {
        if (computing || !knows_below || (index != 0 && !edges.contains(next))) return;
        computing = true;
        em.sync(step);
    }
    ExclusiveFiber<&Strip::go_on> begin{*this, 1};

    void compute(Em em) {
        const AtgcInput& input = input_of(em);
        const Columns& columns = input.columns[next];
        const auto rows = input.rows(index);
        const std::size_t width = columns.size();
        const bool affine = input.problem.scoring.gaps().affine();
        std::vector<Score> above_values((affine ? 2 : 1) * width, 0);
        if (index != 0) above_values = std::move(edges.extract(next).mapped());
        const std::span values(above_values);
        const Score next_corner = values[width - 1];
        em.compute(input.cost(rows.size(), width), [&] {
            Best found =
                compute_block(rows, columns,
                              {corner, values.first(width), affine ? values.subspan(width) : values.first(0),
                               column_h, affine ? std::span(column_e) : std::span<Score>()});
            found.row += index * input.problem.rows;
            found.column += std::size_t{next} * input.problem.columns;
            if (better(found, best)) best = found;
        });
        corner = next_corner;
        if (index + 1 < input.strips()) send_down(em, values);
        computing = false;
        if (++next < input.columns.size()) return go_on(em);
        em.drop_in(main, best);
        em.terminate();
    }
    ExclusiveFiber<&Strip::compute> step{*this, 1};

    void send_down(Em em, std::span<const Score> values) const {
        const Item what{Item::edge, next, {}};
        runtime::Bytes bytes(sizeof what + values.size_bytes());
        std::memcpy(bytes.data(), &what, sizeof what);
        std::memcpy(bytes.data() + sizeof what, values.data(), values.size_bytes());
        em.drop_in(below, std::span<const std::byte>(bytes));
    }
};

struct AlignMain : Threaded<AlignMain> {
    static constexpr auto name = "atgc_main";

    Mailbox mailbox;
    Best best;

    void init(Em em) {
        em.init_mailbox(mailbox, item);
        all.set(static_cast<std::uint32_t>(input_of(em).strips()), 0);
        em.invoke<Strip>(0, 0U, em.to_global(mailbox), em.to_global(mailbox));
    }
    void take(Em em) {
        Best of_strip;
        em.retrieve_item(mailbox, of_strip);
        if (better(of_strip, best)) best = of_strip;
        em.sync(all);
    }
    void show(Em em) {
        em.program<AtgcProgram>().answer_with(
            {{"score", static_cast<double>(best.score)},
             {"a_end", static_cast<double>(best.score > 0 ? best.row + 1 : 0)},
             {"b_end", static_cast<double>(best.score > 0 ? best.column + 1 : 0)}});
        em.terminate();
    }
    ExclusiveFiber<&AlignMain::take> item{*this, 1};
    Fiber<&AlignMain::show> all{*this};
};

// --- all pairs of a set

Best compare_whole(const Scoring& scoring, std::span<const Letter> a, std::span<const Letter> b) {
    const Columns columns(scoring, b);
    std::vector<Score> row_h(b.size()), row_f(b.size()), column_h(a.size()), column_e(a.size());
    return compute_block(a, columns, {0, row_h, row_f, column_h, column_e});
}

struct PairParameters {
    std::uint32_t a, b;
    Global<std::int64_t> score;
    Sptr done;
};

struct Pair : Threaded<Pair, PairParameters> {
    static constexpr auto name = "atgc_pair";

    void init(Em em) {
        const AtgcInput& input = input_of(em);
        const auto& all = input.problem.a;
        Best best;
        em.compute(input.cost(all[a].size(), all[b].size()),
                   [&] { best = compare_whole(input.problem.scoring, all[a], all[b]); });
        em.put_sync(best.score, score, done);
        em.terminate();
    }
};

struct PairsMain : Threaded<PairsMain> {
    static constexpr auto name = "atgc_pairs";

    std::vector<std::int64_t> scores;

    void init(Em em) {
        const auto count = static_cast<std::uint32_t>(input_of(em).problem.a.size());
        scores.resize(std::size_t{count} * (count - 1) / 2);
        all.set(static_cast<std::uint32_t>(scores.size()), 0);
        auto* score = scores.data();
        for (std::uint32_t a = 0; a < count; ++a)
            for (std::uint32_t b = a + 1; b < count; ++b)
                em.token<Pair>(a, b, em.to_global(*score++), em.to_sptr(all));
    }
    void show(Em em) {
        double sum = 0;
        for (const std::int64_t score : scores) sum += static_cast<double>(score);
        em.program<AtgcProgram>().answer_with({{"pairs", static_cast<double>(scores.size())}, {"sum", sum}});
        em.terminate();
    }
    Fiber<&PairsMain::show> all{*this};
};

void AtgcProgram::main(Em em) {
    if (input.problem.pairs()) {
        em.invoke<PairsMain>(0);
    } else {
        em.worker().node().expect_same_nodes(
            "atgc deals the strips of its matrix out over all nodes, and needs");
        em.invoke<AlignMain>(0);
    }
}

// --- the workload

class AtgcWorkload final : public EarthWorkload {
public:
    explicit AtgcWorkload(const Settings& settings)
        : settings_(settings), input_(AtgcProblem::read(settings)) {
        if (settings_.stated("output") && input_.problem.pairs()) {
            throw Error("an alignment is written of two sequences, and these are pairs",
                        "state workload.b, or leave output out", settings_.where("output"));
        }
        if (settings_.stated("output")) need_memory_of_alignment();
    }

    std::unique_ptr<runtime::Program> program(NodeId) const override {
        return std::make_unique<AtgcProgram>(settings_, input_);
    }

    std::vector<const runtime::TaskType*> tasks() const override { return {&Activation<Pair>::token}; }

protected:
    Verdict check_answer(const runtime::RunResult& result) const override {
        const AtgcProblem& problem = input_.problem;
        const Verdict verdict = check_scores(result);
        if (verdict.kind != Verdict::Kind::wrong && settings_.stated("output"))
            write(align(problem.scoring, problem.a.front(), problem.b));
        return verdict;
    }

private:
    /// Of the edges that `align` keeps.
    void need_memory_of_alignment() const {
        const AtgcProblem& problem = input_.problem;
        const std::size_t rows = problem.a.front().size(), columns = problem.b.size();
        need_memory(align_bytes(problem.scoring, rows, columns),
                    fmt::format("the alignment of {} and {} letters", rows, columns),
                    "leave workload.output out, or compare shorter sequences", settings_.where("output"));
    }

    Verdict check_scores(const runtime::RunResult& result) const {
        if (settings_.text("check") == "none") return {Verdict::Kind::unchecked, "check is none"};
        const AtgcProblem& problem = input_.problem;
        if (problem.pairs()) {
            double sum = 0;
            for (std::size_t i = 0; i < problem.a.size(); ++i)
                for (std::size_t j = i + 1; j < problem.a.size(); ++j)
                    sum += compare_whole(problem.scoring, problem.a[i], problem.a[j]).score;
            return judge(result.answer, {{"sum", sum}}, "each pair once more");
        }
        const Best best = compare_whole(problem.scoring, problem.a.front(), problem.b);
        return judge(result.answer,
                     {{"score", static_cast<double>(best.score)},
                      {"a_end", static_cast<double>(best.score > 0 ? best.row + 1 : 0)},
                      {"b_end", static_cast<double>(best.score > 0 ? best.column + 1 : 0)}},
                     "the matrix as one block");
    }

    void write(const Alignment& found) const {
        const std::string text =
            fmt::format("score {}\na {}-{}\nb {}-{}\nidentity {:.4f}\ngaps {} of {} letters\ncigar {}\n",
                        found.score, found.a_begin + 1, found.a_end, found.b_begin + 1, found.b_end,
                        found.identity(), found.gaps(), found.gap_letters(), cigar(found.transcript));
        try {
            write_file(settings_.path("output"), text, OutputFile::Durable::no,
                       {"the alignment", "choose another workload.output"});
        } catch (const Error& error) {
            throw error.at(settings_.where("output"));
        }
    }

    Settings settings_;
    AtgcInput input_;
};

const Registration registration{
    {"atgc", "two sequences compared by Smith-Waterman, as a wave of fibers over the blocks of the matrix",
     EarthProgram::settings(AtgcProblem::settings(), "2f", "a cell of the matrix"),
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<AtgcWorkload>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
