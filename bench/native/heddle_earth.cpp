// Measures what operations of the execution model EARTH cost on one worker. Arguments: token|invoke|sync|fib
// COUNT. Prints nanoseconds of an operation; for fib, nanoseconds of a token, and the bytes that a frame has
// besides parameters and variables.
#include "bench/native/outcome.hpp"
#include "model/earth.hpp"
#include "runtime/native/native_backend.hpp"
#include "runtime/run/execution.hpp"

namespace {

using namespace heddle;
using namespace heddle::bench;
using namespace heddle::model::earth;

/// Ends as soon as it begins.
struct Empty : Threaded<Empty> {
    void init(Em em) { em.terminate(); }
};

struct BatchParameters {
    std::uint64_t left;
};

/// Makes threads, a thousand at a time so that the deque does not grow, and then goes on in a thread of its
/// own.
template <bool invoke>
struct Batch : Threaded<Batch<invoke>, BatchParameters> {
    void init(Em em) {
        for (int i = 0; i < 1000; ++i) {
            if constexpr (invoke) {
                em.invoke<Empty>(em.node_id());
            } else {
                em.token<Empty>();
            }
        }
        em.terminate();
    }
};

class EarthBench;
bool invokes(Em em);

struct Batches : Threaded<Batches, BatchParameters> {
    void init(Em em) { more(em); }
    void more(Em em) {
        if (left == 0) return em.terminate();
        left -= 1000;
        em.sync(next);
        if (invokes(em)) {
            em.invoke<Batch<true>>(em.node_id(), 0U);
        } else {
            em.invoke<Batch<false>>(em.node_id(), 0U);
        }
    }
    Fiber<&Batches::more> next{*this, 1};
};

struct Signals : Threaded<Signals, BatchParameters> {
    void init(Em em) {
        for (std::uint64_t i = 0; i < left; ++i) em.sync(em.to_sptr(slot));
        em.terminate();
    }
    void never(Em) {}
    Fiber<&Signals::never> slot{*this, 4'000'000'000U};
};

struct FibParameters {
    std::int64_t n;
    Global<std::int64_t> result;
    Sptr done;
};
struct Fib : Threaded<Fib, FibParameters> {
    std::int64_t r1, r2;

    void init(Em em) {
        if (n <= 1) {
            em.put_sync(1, result, done);
            return em.terminate();
        }
        em.token<Fib>(n - 1, em.to_global(r1), em.to_sptr(ready));
        em.token<Fib>(n - 2, em.to_global(r2), em.to_sptr(ready));
    }
    void sum(Em em) {
        em.put_sync(r1 + r2, result, done);
        em.terminate();
    }
    Fiber<&Fib::sum> ready{*this, 2};
};

struct FibMain : Threaded<FibMain, BatchParameters> {
    std::int64_t value;

    void init(Em em) {
        em.token<Fib>(static_cast<std::int64_t>(left), em.to_global(value), em.to_sptr(done));
    }
    void show(Em em);
    Fiber<&FibMain::show> done{*this, 1};
};

class EarthBench final : public Program {
public:
    EarthBench(std::string kind, std::uint64_t count) : kind_(std::move(kind)), count_(count) {}

    bool invoke() const { return kind_ == "invoke"; }
    void main(Em em) override {
        if (kind_ == "fib") return em.invoke<FibMain>(0, count_);
        if (kind_ == "sync") return em.invoke<Signals>(0, count_);
        em.invoke<Batches>(0, count_ / 1000 * 1000);
    }
    runtime::Answer answer() const override {
        return {{"value", value}, {"left", static_cast<double>(unterminated())}};
    }

    double value = 0;

private:
    std::string kind_;
    std::uint64_t count_;
};

bool invokes(Em em) {
    return em.program<EarthBench>().invoke();
}

void FibMain::show(Em em) {
    em.program<EarthBench>().value = static_cast<double>(value);
    em.terminate();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: %s token|invoke|sync|fib COUNT\n", argv[0]);
        return 2;
    }
    const std::string kind = argv[1];
    const std::uint64_t count = std::stoull(argv[2]);
    native::NativeOptions options;
    options.cores = 1;
    native::NativeBackend backend(options);
    const runtime::Schedule schedule;
    const auto result = runtime::Execution(backend, schedule, [&](NodeId) {
                            return std::make_unique<EarthBench>(kind, count);
                        }).run();
    if (result.answer.at(1).value != 0) return 1;
    double operations = static_cast<double>(count);
    if (kind == "fib") operations = 2 * result.answer.at(0).value - 1;
    Outcome()
        .add("nanoseconds", to_seconds(result.makespan) * 1e9 / operations)
        .add("seconds", to_seconds(result.makespan))
        .add("value", result.answer.at(0).value)
        .add("frame_bytes_besides",
             static_cast<double>(sizeof(Fib) - sizeof(FibParameters) - 2 * sizeof(std::int64_t)))
        .print();
    return 0;
}
