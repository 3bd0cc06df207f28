// Measures sweeps of Jacobi's iteration on one node, with a filament for each point. Arguments:
// automatic|checked alone|together N SWEEPS WORKERS. With `checked`, each row declares what it reads and
// writes. With `together` a function does what neighbouring filaments do. Prints the time of the sweeps, and
// the sum of the grid, which must equal that of the peers.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "bench/native/jacobi_kernel.hpp"
#include "bench/native/outcome.hpp"
#include "model/filaments.hpp"
#include "runtime/native/native_backend.hpp"
#include "runtime/run/execution.hpp"

namespace {

using namespace heddle;
using namespace heddle::bench;
using namespace heddle::filaments;

class Jacobi final : public FilamentProgram {
public:
    Jacobi(std::size_t n, int sweeps, bool together) : n_(n), sweeps_(sweeps), together_(together) {}

    void main(Filaments& fil) override {
        const auto grid = [&](const char* name) {
            return fil.memory().allocate<double>(name, n_ * n_, {.row = n_});
        };
        old_ = grid("old");
        new_ = grid("new");
        fil.seal();
        before_ = fil.memory().at(old_);
        now_ = fil.memory().at(new_);
        {
            const auto checkout = fil.memory().touch(fil.strand(), {all(old_), all(new_)});
            fill_waves(before_, n_);
            fill_waves(now_, n_);
        }
        if (together_) {
            sweep(fil,
                  fil.create_phase<&Jacobi::point, &Jacobi::check, &Jacobi::touches, &Jacobi::points>(*this));
        } else {
            sweep(fil, fil.create_phase<&Jacobi::point, &Jacobi::check, &Jacobi::touches>(*this));
        }
        const auto checkout = fil.memory().touch(fil.strand(), {all(old_)});
        for (std::size_t at = 0; at < n_ * n_; ++at) sum += before_[at];
    }
    runtime::Answer answer() const override { return {}; }

    static inline double seconds = 0;
    static inline double cpu = 0;
    static inline double change = 0;
    static inline double sum = 0;

private:
    dsm::Range all(dsm::Shared<double> grid) const { return dsm::writing(grid, 0, n_ * n_); }

    template <class Phase>
    void sweep(Filaments& fil, Phase& phase) {
        auto& pools = fil.create_pool_array(phase, n_ * n_);
        const auto n = static_cast<std::int64_t>(n_);
        for (const auto [i, pool] : block(1, n - 1, 1, pools.size()).of(0))
            for (std::int64_t j = 1; j < n - 1; ++j) fil.create_filament(pools[pool], i, j);
        const double begin = seconds_now();
        const double cpu_begin = cpu_seconds();
        fil.start();
        seconds = seconds_now() - begin;
        cpu = cpu_seconds() - cpu_begin;
    }
    void point(Processor& self, std::int64_t i, std::int64_t j) {
        const double moved = relax(now_, before_, n_, place(i, j));
        if (self.value(change_) < moved) self.value(change_) = moved;
    }
    void points(Processor& self, std::int64_t i, std::int64_t j, std::uint64_t count) {
        double most = self.value(change_);
        const std::size_t first = place(i, j);
        for (std::size_t at = first; at < first + count; ++at)
            most = std::max(most, relax(now_, before_, n_, at));
        self.value(change_) = most;
    }
    void touches(Ranges& ranges, std::int64_t i, std::int64_t j, std::uint64_t count) {
        ranges.reads(old_, place(i - 1, j), count);
        ranges.reads(old_, place(i, j - 1), count + 2);
        ranges.reads(old_, place(i + 1, j), count);
        ranges.writes(new_, place(i, j), count);
    }
    PostPhase check(Filaments& fil) {
        change = fil.reduce(change_, max);
        std::swap(old_, new_);
        std::swap(before_, now_);
        fil.value(change_) = 0;
        return ++done_ == sweeps_ ? F_DONE : F_CONTINUE;
    }
    std::size_t place(std::int64_t i, std::int64_t j) const {
        return static_cast<std::size_t>(i) * n_ + static_cast<std::size_t>(j);
    }

    std::size_t n_;
    int sweeps_;
    bool together_;
    int done_ = 0;
    dsm::Shared<double> old_, new_;
    double* before_ = nullptr;
    double* now_ = nullptr;
    Reduction<double> change_{*this, "change"};
};

}  // namespace

int main(int count, char** words) {
    if (count != 6) {
        std::fprintf(stderr, "usage: heddle_jacobi automatic|checked alone|together N SWEEPS WORKERS\n");
        return 2;
    }
    const auto n = static_cast<std::size_t>(std::stoul(words[3]));
    const int sweeps = std::stoi(words[4]);
    runtime::Schedule schedule;
    if (std::string(words[1]) == "checked") schedule.memory.trigger = runtime::Trigger::checked;
    native::NativeOptions options;
    options.cores = static_cast<CoreId>(std::stoul(words[5]));
    native::NativeBackend backend(options);
    const bool together = std::string(words[2]) == "together";
    runtime::Execution(backend, schedule, [&](NodeId) {
        return std::make_unique<Jacobi>(n, sweeps, together);
    }).run();
    Outcome()
        .add("seconds", Jacobi::seconds)
        .add("cpu_seconds", Jacobi::cpu)
        .add("value", Jacobi::sum)
        .add("change", Jacobi::change)
        .print();
}
