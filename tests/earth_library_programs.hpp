// For tests: programs that use EARTH's library, and run in-process and in simulation.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "model/earth/library/barrier.hpp"
#include "model/earth/library/lock.hpp"
#include "tests/earth_library_testing.hpp"

namespace heddle::earth_testing {

// --- mutual exclusion: a counter on node 0 that is read by one fiber and written by a later one

struct CounterState {
    std::uint32_t threads;
    std::uint32_t rounds;
    NodeId lock_home = 0;
    bool locked = true;  ///< false: to see what happens then
    std::int64_t counter = -1;
};

struct CounterUserParameters {
    Lock lock;
    Global<std::int64_t> counter;
    Sptr done;
};

struct CounterUser : Threaded<CounterUser, CounterUserParameters> {
    std::int64_t mine = 0;
    std::uint32_t round = 0;

    void init(Em em) { begin(em); }
    void begin(Em em) {
        if (state<CounterState>(em).locked) {
            lock_sync(em, lock, obtained);
        } else {
            em.sync(obtained);
        }
    }
    void read(Em em) { em.get_sync(counter, mine, have_read); }
    void write(Em em) { em.put_sync(mine + 1, counter, have_written); }
    void end(Em em) {
        if (state<CounterState>(em).locked) unlock(em, lock);
        if (++round < state<CounterState>(em).rounds) return begin(em);
        em.sync(done);
        em.terminate();
    }
    Fiber<&CounterUser::read> obtained{*this, 1};
    Fiber<&CounterUser::write> have_read{*this, 1};
    Fiber<&CounterUser::end> have_written{*this, 1};
};

struct CounterMain : Threaded<CounterMain> {
    Lock lock;
    std::int64_t counter = 0;

    void init(Em em) {
        done.set(state<CounterState>(em).threads, 0);
        init_lock(em, state<CounterState>(em).lock_home, em.to_global(lock), ready);
    }
    void begin(Em em) {
        for (std::uint32_t i = 0; i < state<CounterState>(em).threads; ++i)
            em.token<CounterUser>(lock, em.to_global(counter), em.to_sptr(done));
    }
    void end(Em em) {
        state<CounterState>(em).counter = counter;
        destroy(em, lock);
        em.terminate();
    }
    Fiber<&CounterMain::begin> ready{*this, 1};
    Fiber<&CounterMain::end> done{*this};
};

// --- rounds of a barrier: no thread goes on before all have come

struct RoundsState {
    std::uint32_t threads;
    std::uint32_t rounds;
    std::atomic<std::uint64_t> arrived = 0;  ///< of all threads, in all rounds
    std::atomic<std::uint64_t> early = 0;    ///< threads that went on too early
    std::atomic<std::uint64_t> late = 0;     ///< threads that came while others were still a round behind
};

struct RoundsUserParameters {
    Barrier barrier;
    Sptr done;
};

struct RoundsUser : Threaded<RoundsUser, RoundsUserParameters> {
    std::uint32_t round = 0;

    void init(Em em) { arrive(em); }
    void arrive(Em em) {
        ++state<RoundsState>(em).arrived;
        barrier_sync(em, barrier, all_here);
    }
    void go(Em em) {
        auto& shared = state<RoundsState>(em);
        ++round;
        const std::uint64_t arrived = shared.arrived;
        if (arrived < std::uint64_t{round} * shared.threads) ++shared.early;
        if (arrived > std::uint64_t{round + 1} * shared.threads) ++shared.late;
        if (round < shared.rounds) return arrive(em);
        em.sync(done);
        em.terminate();
    }
    Fiber<&RoundsUser::go> all_here{*this, 1};
};

struct RoundsMain : Threaded<RoundsMain> {
    Barrier barrier;

    void init(Em em) {
        done.set(state<RoundsState>(em).threads, 0);
        init_barrier(em, em.to_global(barrier), state<RoundsState>(em).threads, ready);
    }
    void begin(Em em) {
        for (std::uint32_t i = 0; i < state<RoundsState>(em).threads; ++i)
            em.invoke<RoundsUser>(i % em.num_nodes(), barrier, em.to_sptr(done));
    }
    void end(Em em) {
        destroy(em, barrier);
        em.terminate();
    }
    Fiber<&RoundsMain::begin> ready{*this, 1};
    Fiber<&RoundsMain::end> done{*this};
};

}  // namespace heddle::earth_testing
