// An EARTH program of one's own, in one file: it counts the primes below a limit. The thread of node 0 makes
// a token for each block of numbers. Any worker of any node takes a token, counts, and sends its number back.
#include <algorithm>
#include <array>
#include <cstdint>

#include "workloads/earth.hpp"

namespace {

using namespace heddle::model::earth;
using heddle::Settings;
using heddle::runtime::Answer;
using heddle::workloads::EarthProgram;
using heddle::workloads::Verdict;

constexpr std::int64_t blocks = 64;

bool is_prime(std::int64_t number) {
    if (number < 2) return false;
    for (std::int64_t factor = 2; factor * factor <= number; ++factor)
        if (number % factor == 0) return false;
    return true;
}

struct CountParameters {
    std::int64_t begin, end;
    Global<std::int64_t> result;
    Sptr done;
};

/// A threaded function with one fiber: counts the primes of a block, writes the number to `result` and
/// signals `done`.
struct Count : Threaded<Count, CountParameters> {
    static constexpr auto name = "primes_count";

    void init(Em em) {
        std::int64_t found = 0;
        for (std::int64_t number = begin; number < end; ++number) found += is_prime(number) ? 1 : 0;
        em.work(static_cast<std::uint64_t>(end - begin));  // what the block costs in simulation
        em.put_sync(found, result, done);
        em.terminate();
    }
};

struct MainParameters {
    std::int64_t limit;
};

/// The first thread. Its slot `all` waits for a signal of each block and then schedules the fiber `add`.
struct Main : Threaded<Main, MainParameters> {
    static constexpr auto name = "primes_main";

    std::array<std::int64_t, blocks> counts;

    void init(Em em) {
        for (std::int64_t i = 0; i < blocks; ++i) {
            em.token<Count>(limit * i / blocks, limit * (i + 1) / blocks,
                            em.to_global(counts[static_cast<std::size_t>(i)]), em.to_sptr(all));
        }
    }

    void add(Em em) {
        std::int64_t sum = 0;
        for (const auto count : counts) sum += count;
        em.program<EarthProgram>().answer_with({{"primes", static_cast<double>(sum)}});
        em.terminate();
    }
    Fiber<&Main::add> all{*this, blocks};
};

/// Runs once, on node 0.
void start(Em em, const Settings& settings) {
    em.invoke<Main>(0, settings.integer("limit"));
}

Verdict check(const Answer& answer, const Settings& settings) {
    if (settings.integer("limit") != 100000) return {Verdict::Kind::unchecked, "known for limit 100000 only"};
    return heddle::workloads::judge(answer, {{"primes", 9592}}, "OEIS A006880");
}

const auto registration = heddle::workloads::earth_workload<start, check, Count>(
    "primes", "how many primes are below a limit, by the tokens of EARTH",
    {{"limit", heddle::SettingKind::integer, "100000", "count the primes below this number", {}, 1, 1e9}},
    "1kf");

}  // namespace
