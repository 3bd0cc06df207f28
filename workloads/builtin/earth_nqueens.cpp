// earth_nqueens: counts all ways to place n queens, with a token for each placement and no sequential search
// ("unthrottled"; Tremblay et al., section 5).
#include <array>

#include "workloads/earth.hpp"
#include "workloads/queens.hpp"

namespace heddle::workloads {

namespace {

using namespace model::earth;

struct QueensParameters {
    QueensBoard board;
    Global<QueensFound> result;
    Sptr done;
};

struct Queens : Threaded<Queens, QueensParameters> {
    static constexpr auto name = "earth_nqueens";

    std::array<QueensFound, queens_max + 1> found;  ///< below each next placement

    void init(Em em) {
        em.work();
        std::uint32_t places = 0;
        board.places([&](const QueensBoard&) { ++places; });
        if (places == 0) {
            em.put_sync({board.full() ? 1U : 0U, 1}, result, done);
            return em.terminate();
        }
        all_found.set(places, 0);
        auto* below = found.data();
        board.places([&](const QueensBoard& next) {
            em.token<Queens>(next, em.to_global(*below++), em.to_sptr(all_found));
        });
    }

    void sum(Em em) {
        QueensFound all{0, 1};
        for (const QueensFound& below : found) all += below;  // zero where there was no place
        em.put_sync(all, result, done);
        em.terminate();
    }
    Fiber<&Queens::sum> all_found{*this};
};

struct MainParameters {
    std::int64_t n;
};

struct QueensMain : Threaded<QueensMain, MainParameters> {
    static constexpr auto name = "earth_nqueens_main";

    QueensFound found;

    void init(Em em) {
        em.token<Queens>(QueensBoard::empty(static_cast<int>(n)), em.to_global(found), em.to_sptr(done));
    }
    void show(Em em) {
        em.program<EarthProgram>().answer_with(answer_of(found));
        em.terminate();
    }
    Fiber<&QueensMain::show> done{*this, 1};
};

class QueensProgram final : public EarthProgram {
public:
    explicit QueensProgram(const Settings& settings) : EarthProgram(settings), n_(settings.integer("n")) {}

    void main(Em em) override { em.invoke<QueensMain>(0, n_); }

private:
    std::int64_t n_;
};

class QueensWorkload final : public EarthWorkload {
public:
    explicit QueensWorkload(const Settings& settings) : settings_(settings) {}

    std::unique_ptr<runtime::Program> program(NodeId) const override {
        return std::make_unique<QueensProgram>(settings_);
    }

    std::vector<const runtime::TaskType*> tasks() const override { return {&Activation<Queens>::token}; }

protected:
    Verdict check_answer(const runtime::RunResult& result) const override {
        const auto n = static_cast<std::size_t>(settings_.integer("n"));
        return judge(result.answer, {{"solutions", known_queens[n]}}, "OEIS A000170");
    }

private:
    Settings settings_;
};

const Registration registration{
    {"earth_nqueens", "all ways to place n queens on an n x n board, an EARTH token for each placement",
     EarthProgram::settings(
         {{"n", SettingKind::integer, "8", "queens, and rows of the board", {}, 0, queens_max}}, "60f",
         "one placement"),
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<QueensWorkload>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
