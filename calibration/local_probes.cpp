// Micro-benchmarks of what one worker does alone: batches of forks and joins, signals, strands, tokens,
// arithmetic, memory.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <utility>

#include "base/busy_arithmetic.hpp"
#include "calibration/probe.hpp"
#include "model/fork_join.hpp"
#include "runtime/comm/endpoint.hpp"
#include "runtime/comm/sync_slot.hpp"
#include "runtime/strands/strands.hpp"

namespace heddle::calibration {

namespace {

using runtime::Worker;

struct Nothing {
    static constexpr auto name = "calibration.nothing";
    static std::uint32_t run(model::Strand /*strand*/) { return 0; }
};

/// Forks and joins in batches, signals of a sync slot, and pieces of work.
class LocalProgram final : public ProbeProgram {
public:
    using ProbeProgram::ProbeProgram;

    void begin(Worker& worker) override {
        for (std::uint32_t i = 0; i < effort_.repetitions; ++i) {
            read_batch(worker);
            read_signals(worker);
            read_pieces(worker);
        }
    }

private:
    void read_batch(Worker& worker) {
        for (const std::uint64_t count : {effort_.operations(1000), effort_.operations(10'000)}) {
            model::Strand strand(worker);
            const double begin = seconds_now(worker);
            for (std::uint64_t i = 0; i < count; ++i) strand.fork<Nothing>();
            const double forked = seconds_now(worker);
            for (std::uint64_t i = 0; i < count; ++i) sum_ += strand.join<Nothing>();
            const double joined = seconds_now(worker);
            add({"fork", 0, static_cast<double>(count), forked - begin});
            add({"join", 0, static_cast<double>(count), joined - forked});
        }
    }
    void read_signals(Worker& worker) {
        constexpr std::uint32_t many = 1U << 30;
        runtime::SyncSlot slot(many, many, [](runtime::SyncSlot&, runtime::Node&, runtime::Context&) {});
        read(worker, "sync", 0, {effort_.operations(1000), effort_.operations(20'000)},
             [&](std::uint64_t count) {
                 for (std::uint64_t i = 0; i < count; ++i) slot.signal(worker.node(), worker);
             });
    }
    /// Pieces of work that declare nothing.
    void read_pieces(Worker& worker) {
        read(worker, "piece", 0, {effort_.operations(100), effort_.operations(2000)},
             [&](std::uint64_t count) {
                 for (std::uint64_t i = 0; i < count; ++i) worker.compute({}, {});
             });
    }

    std::uint32_t sum_ = 0;
};

/// Strands: what starting one takes, and going from one to another.
class StrandProgram final : public ProbeProgram {
public:
    using ProbeProgram::ProbeProgram;

    void begin(Worker& worker) override {
        runtime::Strand::start(worker, [this](runtime::Strand& self) {
            for (std::uint32_t i = 0; i < effort_.repetitions; ++i) {
                read_starts(self);
                read_switches(self);
            }
        });
    }

private:
    void read_starts(runtime::Strand& self) {
        Worker& worker = self.worker();
        for (const std::uint64_t count : {effort_.operations(100), effort_.operations(1000)}) {
            const double begin = seconds_now(worker);
            for (std::uint64_t i = 0; i < count; ++i)
                runtime::Strand::start(worker, [this](runtime::Strand&) { ++ended_; });
            add({"strand", 0, static_cast<double>(count), seconds_now(worker) - begin});
            for (const std::uint64_t all = ended_ + count; ended_ < all;) self.yield();
        }
    }
    void read_switches(runtime::Strand& self) {
        bool over = false;
        bool ended = false;
        runtime::Strand::start(self.worker(), [&over, &ended](runtime::Strand& partner) {
            while (!over) partner.yield();
            ended = true;
        });
        // Two switches each: to the partner and back.
        read(self.worker(), "two_switches", 0, {effort_.operations(100), effort_.operations(20'000)},
             [&](std::uint64_t count) {
                 for (std::uint64_t i = 0; i < count; ++i) self.yield();
             });
        over = true;
        while (!ended) self.yield();
    }

    std::uint64_t ended_ = 0;
};

/// A strand sends messages to itself: each is matched with its receive, and neither waits nor travels.
class EndpointProgram final : public ProbeProgram {
public:
    using ProbeProgram::ProbeProgram;

    void begin(Worker& worker) override {
        runtime::Strand::start(worker, [this](runtime::Strand& self) {
            runtime::Endpoint here(self.worker().node());
            for (std::uint32_t i = 0; i < effort_.repetitions; ++i) {
                read(self.worker(), "send_and_receive", 0,
                     {effort_.operations(100), effort_.operations(2000)}, [&](std::uint64_t count) {
                         for (std::uint64_t k = 0; k < count; ++k) exchange(self, here);
                     });
            }
        });
    }

private:
    static void exchange(runtime::Strand& self, runtime::Endpoint& here) {
        here.send(self, here.address(), 1, runtime::Parcel());
        (void)here.receive(self, {.tag = 1});
    }
};

/// The token queue that the workers of a node share: a token is put and taken.
class TokenProgram final : public ProbeProgram {
public:
    using ProbeProgram::ProbeProgram;

    void begin(Worker& worker) override {
        auto& tokens = worker.node().shared_tokens();
        for (std::uint32_t i = 0; i < effort_.repetitions; ++i) {
            read(worker, "put_and_take", 0, {effort_.operations(100), effort_.operations(2000)},
                 [&](std::uint64_t count) {
                     for (std::uint64_t k = 0; k < count; ++k)
                         tokens.put(worker, model::TaskFunction<Nothing>::type, {});
                     for (std::uint64_t k = 0; k < count; ++k) (void)tokens.take(worker);
                 });
        }
    }
};

/// A product of small matrices, which lie in the cache: flops, and nothing else.
class SpeedProgram final : public ProbeProgram {
public:
    using ProbeProgram::ProbeProgram;

    void begin(Worker& worker) override {
        std::ranges::fill(a_, 1e-3);
        std::ranges::fill(b_, 1e-3);
        constexpr double flops = 2.0 * side * side * side;
        for (std::uint32_t i = 0; i < effort_.repetitions; ++i) {
            read(worker, "flop", 0, {1, effort_.operations(20) + 1}, [&](std::uint64_t count) {
                worker.compute({flops * static_cast<double>(count), 0}, [&] {
                    for (std::uint64_t k = 0; k < count; ++k) multiply();
                });
            });
        }
    }
    runtime::Bytes evidence() const override {
        HEDDLE_ASSERT(c_[0] > 0);  // the product is used
        return ProbeProgram::evidence();
    }

private:
    static constexpr std::size_t side = 64;

    static constexpr std::size_t block = 4;

    /// By blocks whose sums stay in registers, so that how the matrices lie in the cache matters little.
    void multiply() {
        for (std::size_t i = 0; i < side; i += block)
            for (std::size_t j = 0; j < side; j += block) multiply_block(i, j);
    }
    void multiply_block(std::size_t row, std::size_t column) {
        std::array<double, block * block> sums{};
        for (std::size_t k = 0; k < side; ++k)
            for (std::size_t r = 0; r < block; ++r)
                for (std::size_t c = 0; c < block; ++c)
                    sums[r * block + c] += a_[(row + r) * side + k] * b_[k * side + column + c];
        for (std::size_t r = 0; r < block; ++r)
            for (std::size_t c = 0; c < block; ++c) c_[(row + r) * side + column + c] += sums[r * block + c];
    }

    using Matrix = std::array<double, side * side>;
    alignas(64) Matrix a_{};
    alignas(64) Matrix b_{};
    alignas(64) Matrix c_{};
};

/// Workers that stream at the same time: k of them for each k. The others sleep. Worker 0 reads sweeps of its
/// own once all others have begun, and they go on until it has: so k stream all the time. The next step
/// begins once their last pieces have ended, because a piece that goes on would make one of its readings
/// longer.
class MemoryProgram final : public ProbeProgram {
public:
    MemoryProgram(const Effort& effort, CoreId cores)
        : ProbeProgram(effort), gates_(cores), begun_(cores), ended_(cores) {}

    void begin(Worker& worker) override {
        const CoreId own = worker.id.core;
        std::vector<std::byte> from(effort_.sweep_bytes, std::byte{1});
        std::vector<std::byte> to(effort_.sweep_bytes, std::byte{2});
        // One piece of work, however many sweeps: what a piece costs besides is no part of a sweep.
        const auto sweep = [&](std::uint64_t sweeps) {
            const double bytes = 2.0 * static_cast<double>(sweeps) * static_cast<double>(from.size());
            worker.compute({0, bytes}, [&] {
                for (std::uint64_t k = 0; k < sweeps; ++k) {
                    std::memcpy(to.data(), from.data(), from.size());
                    std::atomic_signal_fence(std::memory_order_seq_cst);  // or all copies but one could go
                }
            });
        };
        if (own == 0) return lead(worker, sweep);
        for (std::uint64_t step = 1;; ++step) {
            gates_[own].wait_for(worker, step);
            const std::uint64_t round = round_.load(std::memory_order_acquire);
            if (round == over) return;
            while (round_.load(std::memory_order_acquire) == round) {
                begun_[own].fetch_add(1, std::memory_order_acq_rel);
                sweep(sweeps_many);
            }
            ended_[own].store(step, std::memory_order_release);
        }
    }

private:
    static constexpr std::uint64_t over = ~std::uint64_t{0};
    static constexpr std::uint64_t sweeps_many = 3;

    template <class Sweep>
    void lead(Worker& worker, const Sweep& sweep) {
        std::vector<std::uint64_t> steps(gates_.size());
        std::uint64_t round = 0;
        for (std::uint32_t i = 0; i < effort_.repetitions; ++i)
            for (CoreId streams = 1; streams <= gates_.size(); ++streams)
                stream(worker, sweep, streams, ++round, steps);
        round_.store(over, std::memory_order_release);
        for (CoreId core = 1; core < gates_.size(); ++core) gates_[core].open(worker, over, core);
    }

    template <class Sweep>
    void stream(Worker& worker, const Sweep& sweep, CoreId streams, std::uint64_t round,
                std::vector<std::uint64_t>& steps) {
        round_.store(round, std::memory_order_release);
        std::vector<std::uint64_t> before(gates_.size());
        for (CoreId core = 1; core < streams; ++core) {
            before[core] = begun_[core].load(std::memory_order_acquire);
            gates_[core].open(worker, ++steps[core], core);
        }
        const auto all_stream = [&] {
            for (CoreId core = 1; core < streams; ++core)
                if (begun_[core].load(std::memory_order_acquire) == before[core]) return false;
            return true;
        };
        do {
            sweep(1);
        } while (!all_stream());
        const double of_sweep = 2.0 * static_cast<double>(effort_.sweep_bytes) * streams;
        for (const std::uint64_t sweeps : {std::uint64_t{1}, sweeps_many}) {
            const double begin = seconds_now(worker);
            sweep(sweeps);
            add({"stream_byte", static_cast<double>(streams), static_cast<double>(sweeps) * of_sweep,
                 seconds_now(worker) - begin});
        }
        round_.store(0, std::memory_order_release);
        // Worker 0 sweeps meanwhile, because it must not spin while no time passes.
        for (CoreId core = 1; core < streams; ++core)
            while (ended_[core].load(std::memory_order_acquire) != steps[core]) sweep(1);
    }

    std::vector<Gate> gates_;
    std::vector<std::atomic<std::uint64_t>> begun_;  ///< pieces of several sweeps
    std::vector<std::atomic<std::uint64_t>> ended_;  ///< steps
    std::atomic<std::uint64_t> round_{0};            ///< 0: none streams but worker 0
};

/// Quanta of fixed work on every core (FWQ; Petrini, Kerbyson, Pakin: "The case of the missing supercomputer
/// performance", SC 2003): what they take longer than the shortest is what other programs took.
class NoiseProgram final : public ProbeProgram {
public:
    NoiseProgram(const Effort& effort, CoreId cores) : ProbeProgram(effort), times_(cores) {}

    void begin(Worker& worker) override {
        const std::uint64_t quanta = effort_.operations(2000);
        std::vector<double>& own = times_[worker.id.core];
        own.reserve(quanta);
        for (std::uint64_t i = 0; i < quanta; ++i) {
            const double begin = seconds_now(worker);
            worker.compute({20'000, 0}, [] { busy_arithmetic(25'000); });
            own.push_back(seconds_now(worker) - begin);
        }
    }
    runtime::Bytes evidence() const override {
        Readings all;
        for (CoreId core = 0; core < times_.size(); ++core)
            for (const double seconds : times_[core])
                all.push_back({"quantum", static_cast<double>(core), 1, seconds});
        return to_bytes(all);
    }

private:
    std::vector<std::vector<double>> times_;
};

template <class Made, class... More>
Probe quiet(std::string name, std::string what, CoreId cores, const Effort& effort, More... more) {
    return {std::move(name), std::move(what), 1, cores, quiet_schedule(), [effort, more...](NodeId) {
                return std::make_unique<Made>(effort, more...);
            }};
}

}  // namespace

Probe local_probe(const Effort& effort) {
    return quiet<LocalProgram>("local", "forks and joins in batches, signals", 1, effort);
}

Probe strand_probe(const Effort& effort) {
    return quiet<StrandProgram>("strands", "starting and switching strands", 1, effort);
}

Probe endpoint_probe(const Effort& effort) {
    return quiet<EndpointProgram>("endpoints", "messages and receives at an endpoint", 1, effort);
}

Probe token_probe(const Effort& effort) {
    Probe probe = quiet<TokenProgram>("tokens", "the token queue of a node", 1, effort);
    probe.schedule.token_queue = runtime::TokenQueues::node;
    return probe;
}

Probe speed_probe(const Effort& effort) {
    return quiet<SpeedProgram>("speed", "arithmetic of one core", 1, effort);
}

Probe memory_probe(const Effort& effort, CoreId cores) {
    return quiet<MemoryProgram>("memory", "memory bandwidth of one core and of several", cores, effort,
                                cores);
}

Probe noise_probe(const Effort& effort, CoreId cores) {
    return quiet<NoiseProgram>("noise", "what other programs take of the cores", cores, effort, cores);
}

}  // namespace heddle::calibration
