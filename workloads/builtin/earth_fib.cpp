// earth_fib: Fibonacci numbers as in Figure 2 of the EARTH paper (Tremblay et al.), with its line numbers on
// the right. As there, fib(0) is 1.
#include <cstdint>
#include <utility>

#include "workloads/earth.hpp"

namespace heddle::workloads {

namespace {

using namespace model::earth;

struct FibParameters {            // 1
    std::int64_t n;               // 1
    Global<std::int64_t> result;  // 1
    Sptr done;                    // 1
};

struct Fib : Threaded<Fib, FibParameters> {  // 1
    static constexpr auto name = "earth_fib";

    std::int64_t r1, r2;  // 3

    void init(Em em) {
        em.work();
        if (n <= 1) {                                                   // 5
            em.put_sync(1, result, done);                               // 6
            em.terminate();                                             // 7
        } else {                                                        // 8
            em.token<Fib>(n - 1, em.to_global(r1), em.to_sptr(ready));  // 9
            em.token<Fib>(n - 2, em.to_global(r2), em.to_sptr(ready));  // 10
        }
    }

    void sum(Em em) {
        em.put_sync(r1 + r2, result, done);  // 14
        em.terminate();                      // 15
    }
    Fiber<&Fib::sum> ready{*this, 2};  // 13
};

struct FibMainParameters {
    std::int64_t n;
};

struct FibMain : Threaded<FibMain, FibMainParameters> {
    static constexpr auto name = "earth_fib_main";

    std::int64_t value;

    void init(Em em) { em.token<Fib>(n, em.to_global(value), em.to_sptr(done)); }

    void show(Em em) {
        em.program<EarthProgram>().answer_with({{"value", static_cast<double>(value)}});
        em.terminate();
    }
    Fiber<&FibMain::show> done{*this, 1};
};

class FibProgram final : public EarthProgram {
public:
    explicit FibProgram(const Settings& settings) : EarthProgram(settings), n_(settings.integer("n")) {}

    void main(Em em) override { em.invoke<FibMain>(0, n_); }

private:
    std::int64_t n_;
};

class FibWorkload final : public EarthWorkload {
public:
    explicit FibWorkload(const Settings& settings) : settings_(settings) {}

    std::unique_ptr<runtime::Program> program(NodeId) const override {
        return std::make_unique<FibProgram>(settings_);
    }

    std::vector<const runtime::TaskType*> tasks() const override { return {&Activation<Fib>::token}; }

protected:
    Verdict check_answer(const runtime::RunResult& result) const override {
        std::int64_t previous = 0, expected = 1;
        for (std::int64_t i = 0; i < settings_.integer("n"); ++i)
            expected += std::exchange(previous, expected);
        return judge(result.answer, {{"value", static_cast<double>(expected)}}, "the sum from below");
    }

private:
    Settings settings_;
};

const Registration registration{
    {"earth_fib", "Fibonacci numbers by the tokens and fibers of EARTH, as in its paper",
     EarthProgram::settings(
         // The 77th is the last that a double holds.
         {{"n", SettingKind::integer, "20", "which number; fib(0) = fib(1) = 1", {}, 0, 77}}, "20f",
         "one activation"),
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<FibWorkload>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
