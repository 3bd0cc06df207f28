// Tests EARTH's library: locks, semaphores, barriers and reduction boxes, on several nodes of several
// workers, in the orders of a hundred seeds.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/earth/library/reduction.hpp"
#include "model/earth/library/semaphore.hpp"
#include "runtime/native/native_backend.hpp"
#include "tests/earth_library_programs.hpp"

namespace heddle::earth_testing {
namespace {

using testing::HasSubstr;

// --- lock

TEST(EarthLock, AReadAndALaterWriteAreOneStep) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CounterState state{12, 3, static_cast<NodeId>(seed % 5)};
        run(state, start<CounterMain>, seed);
        ASSERT_EQ(state.counter, 36) << "seed " << seed;
    }
}

TEST(EarthLock, WithoutItAdditionsAreLost) {
    int lost = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CounterState state{12, 3, 0, false};
        run(state, start<CounterMain>, seed);
        lost += state.counter < 36;
    }
    EXPECT_GE(lost, 90);
}

TEST(EarthLock, ThreadsOfOneNodeExcludeEachOtherOnRealThreads) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        native::NativeOptions options;
        options.cores = 4;
        native::NativeBackend backend(options);
        CounterState state{40, 50};
        EXPECT_EQ(run_on(backend, state, start<CounterMain>, seed).answer.at(0).value, 0);
        ASSERT_EQ(state.counter, 2000) << "seed " << seed;
    }
}

struct OrderState {
    std::string order;
};

// The same questions to a lock and to a semaphore of one.
struct LockUse {
    Lock lock;
    void make(Em em, runtime::SyncSlot& ready) { init_lock(em, 1, em.to_global(lock), ready); }
    void ask(Em em, runtime::SyncSlot& slot) const { lock_sync(em, lock, slot); }
    void give_back(Em em, runtime::SyncSlot& given) const {
        unlock(em, lock);
        em.sync(given);
    }
    void end(Em em) const { destroy(em, lock); }
};
struct SemaphoreUse {
    Semaphore semaphore;
    void make(Em em, runtime::SyncSlot& ready) { init_semaphore(em, 1, em.to_global(semaphore), 1, ready); }
    void ask(Em em, runtime::SyncSlot& slot) const { acquire_sync(em, semaphore, slot); }
    void give_back(Em em, runtime::SyncSlot& given) const { release(em, semaphore, given); }
    void end(Em em) const { destroy(em, semaphore); }
};

/// Asks four times in one fiber.
template <class Use>
struct Asker : Threaded<Asker<Use>> {
    Use use;

    void init(Em em) { use.make(em, ready); }
    void ask(Em em) {
        use.ask(em, b);
        use.ask(em, d);
        use.ask(em, a);
        use.ask(em, c);
    }
    void got(Em em, char letter) {
        state<OrderState>(em).order += letter;
        use.give_back(em, given_back);
    }
    void got_a(Em em) { got(em, 'a'); }
    void got_b(Em em) { got(em, 'b'); }
    void got_c(Em em) { got(em, 'c'); }
    void got_d(Em em) { got(em, 'd'); }
    void end(Em em) {
        use.end(em);
        em.terminate();
    }
    Fiber<&Asker::ask> ready{*this, 1};
    Fiber<&Asker::got_a> a{*this, 1};
    Fiber<&Asker::got_b> b{*this, 1};
    Fiber<&Asker::got_c> c{*this, 1};
    Fiber<&Asker::got_d> d{*this, 1};
    Fiber<&Asker::end> given_back{*this, 4};
};

TEST(EarthLock, FirstComeFirstServed) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        OrderState state;
        run(state, start<Asker<LockUse>>, seed);
        ASSERT_EQ(state.order, "bdac") << "seed " << seed;
    }
}

/// Makes a lock and does something with it, of which it hears twice.
template <auto use>
struct LockUser : Threaded<LockUser<use>> {
    Lock lock;

    void init(Em em) { init_lock(em, 1, em.to_global(lock), ready); }
    void begin(Em em) {
        use(em, lock, obtained);
        em.sync(obtained);
    }
    void end(Em em) { em.terminate(); }
    Fiber<&LockUser::begin> ready{*this, 1};
    Fiber<&LockUser::end> obtained{*this, 2};
};

void only_unlock(Em em, Lock lock, runtime::SyncSlot&) {
    unlock(em, lock);
}
void unlock_twice(Em em, Lock lock, runtime::SyncSlot& obtained) {
    lock_sync(em, lock, obtained);
    unlock(em, lock);
    unlock(em, lock);
}
void never_unlock(Em em, Lock lock, runtime::SyncSlot& obtained) {
    lock_sync(em, lock, obtained);
    destroy(em, lock);
}
void destroy_before_unlocking(Em em, Lock lock, runtime::SyncSlot& obtained) {
    lock_sync(em, lock, obtained);
    destroy(em, lock);
    unlock(em, lock);
}

TEST(EarthLock, UnlockingWhatNobodyHoldsIsAnError) {
    OrderState state;
    EXPECT_THAT(error_of(state, start<LockUser<only_unlock>>), HasSubstr("that no thread holds"));
    EXPECT_THAT(error_of(state, start<LockUser<unlock_twice>>), HasSubstr("that no thread holds"));
}

TEST(EarthLock, IsThereUntilItsLastHolderUnlocks) {
    OrderState state;
    run(state, start<LockUser<never_unlock>>, 1, 5, 1);
    run(state, start<LockUser<destroy_before_unlocking>>, 1, 5, 0);
}

// --- semaphore

struct PlacesState {
    std::int64_t count = 0;
    std::int64_t inside = 0;
    std::int64_t inside_max = 0;
    std::int64_t visits = 0;
};

struct VisitorParameters {
    Semaphore semaphore;
    Global<int> far;
    Sptr done;
};

struct Visitor : Threaded<Visitor, VisitorParameters> {
    int round = 0;
    int got = 0;

    void init(Em em) { acquire_sync(em, semaphore, acquired); }
    void enter(Em em) {
        auto& places = state<PlacesState>(em);
        ++places.visits;
        places.inside_max = std::max(places.inside_max, ++places.inside);
        em.get_sync(far, got, stayed);
    }
    void leave(Em em) {
        --state<PlacesState>(em).inside;
        release(em, semaphore, counted);
    }
    void go_on(Em em) {
        if (++round < 3) return acquire_sync(em, semaphore, acquired);
        em.sync(done);
        em.terminate();
    }
    Fiber<&Visitor::enter> acquired{*this, 1};
    Fiber<&Visitor::leave> stayed{*this, 1};
    Fiber<&Visitor::go_on> counted{*this, 1};
};

struct PlacesMain : Threaded<PlacesMain> {
    Semaphore semaphore;
    int here = 0;

    void init(Em em) { init_semaphore(em, 2, em.to_global(semaphore), state<PlacesState>(em).count, ready); }
    void begin(Em em) {
        for (NodeId i = 0; i < 10; ++i)
            em.invoke<Visitor>(i % em.num_nodes(), semaphore, em.to_global(here), em.to_sptr(done));
    }
    void end(Em em) {
        destroy(em, semaphore);
        em.terminate();
    }
    Fiber<&PlacesMain::begin> ready{*this, 1};
    Fiber<&PlacesMain::end> done{*this, 10};
};

TEST(EarthSemaphore, LetsInSoManyAndNoMore) {
    for (const std::int64_t count : {1, 3}) {
        std::int64_t most = 0;
        for (std::uint64_t seed = 0; seed < seeds; ++seed) {
            PlacesState state{count};
            run(state, start<PlacesMain>, seed);
            ASSERT_LE(state.inside_max, count) << "seed " << seed;
            ASSERT_EQ(state.visits, 30) << "seed " << seed;
            most = std::max(most, state.inside_max);
        }
        EXPECT_EQ(most, count);
    }
}

TEST(EarthSemaphore, FirstComeFirstServed) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        OrderState state;
        run(state, start<Asker<SemaphoreUse>>, seed);
        ASSERT_EQ(state.order, "bdac") << "seed " << seed;
    }
}

struct SemaphoreForgetter : Threaded<SemaphoreForgetter> {
    Semaphore semaphore;

    void init(Em em) { init_semaphore(em, 1, em.to_global(semaphore), 0, ready); }
    void misuse(Em em) {
        acquire_sync(em, semaphore, never);
        destroy(em, semaphore);
    }
    void end(Em) {}
    Fiber<&SemaphoreForgetter::misuse> ready{*this, 1};
    Fiber<&SemaphoreForgetter::end> never{*this, 1};
};

TEST(EarthSemaphore, DestroyedWhileSomebodyWaitsIsAnError) {
    OrderState state;
    EXPECT_THAT(error_of(state, start<SemaphoreForgetter>), HasSubstr("for which threads wait"));
}

// --- barrier

void check_rounds(const RoundsState& state, const std::string& where) {
    EXPECT_EQ(state.arrived, std::uint64_t{state.threads} * state.rounds) << where;
    EXPECT_EQ(state.early, 0) << where;
    EXPECT_EQ(state.late, 0) << where;
}

TEST(EarthBarrier, NobodyGoesOnBeforeAllHaveCome) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        // Also fewer threads than nodes, and uneven numbers.
        RoundsState state{static_cast<std::uint32_t>(1 + seed % 17), 5};
        run(state, start<RoundsMain>, seed, 1 + static_cast<NodeId>(seed % 8));
        check_rounds(state, "seed " + std::to_string(seed));
    }
}

TEST(EarthBarrier, InAThousandRoundsEveryNodeHasAboutTheSameToDo) {
    RoundsState state{18, 1000};
    const auto result = run(state, start<RoundsMain>, 1, 9);
    check_rounds(state, "9 nodes");
    // Tasks of a node in a round: one fiber of each of its two threads. The messages between the nodes have
    // handlers, not tasks. The rest begins and ends the program.
    for (const auto& node : result.nodes) {
        EXPECT_LE(node.tasks, 2 * 1000 + 50);
        EXPECT_GE(node.tasks, 2 * 1000);
    }
}

TEST(EarthBarrier, HoldsOnRealThreads) {
    native::NativeOptions options;
    options.cores = 4;
    native::NativeBackend backend(options);
    RoundsState state{20, 1000};
    EXPECT_EQ(run_on(backend, state, start<RoundsMain>, 1).answer.at(0).value, 0);
    check_rounds(state, "native");
}

/// Comes to a barrier that has ended.
struct Latecomer : Threaded<Latecomer> {
    Barrier barrier;
    int lingered = 0;

    void init(Em em) { init_barrier(em, em.to_global(barrier), 2, ready); }
    void end(Em em) {
        destroy(em, barrier);
        em.sync(wait);
    }
    void linger(Em em) {
        if (++lingered < 1000) return em.sync(wait);
        barrier_sync(em, barrier, wait);
    }
    Fiber<&Latecomer::end> ready{*this, 1};
    Fiber<&Latecomer::linger> wait{*this, 1};
};

/// Comes twice to a barrier for two threads, which are on the first two nodes.
struct BarrierMisuser : Threaded<BarrierMisuser> {
    Barrier barrier;

    void init(Em em) { init_barrier(em, em.to_global(barrier), 2, ready); }
    void misuse(Em em) {
        barrier_sync(em, barrier, never);
        barrier_sync(em, barrier, never);
    }
    void end(Em) {}
    Fiber<&BarrierMisuser::misuse> ready{*this, 1};
    Fiber<&BarrierMisuser::end> never{*this, 2};
};

struct StrangerParameters {
    Barrier barrier;
};
struct Stranger : Threaded<Stranger, StrangerParameters> {
    void init(Em em) { barrier_sync(em, barrier, never); }
    void end(Em) {}
    Fiber<&Stranger::end> never{*this, 1};
};
struct StrangerMain : Threaded<StrangerMain> {
    Barrier barrier;

    void init(Em em) { init_barrier(em, em.to_global(barrier), 2, ready); }
    void misuse(Em em) { em.invoke<Stranger>(2, barrier); }
    Fiber<&StrangerMain::misuse> ready{*this, 1};
};

struct EmptyBarrier : Threaded<EmptyBarrier> {
    Barrier barrier;

    void init(Em em) { init_barrier(em, em.to_global(barrier), 0, ready); }
    void end(Em) {}
    Fiber<&EmptyBarrier::end> ready{*this, 1};
};

TEST(EarthBarrier, WhoDoesNotTakePartIsAnError) {
    OrderState state;
    EXPECT_THAT(error_of(state, start<BarrierMisuser>), HasSubstr("more threads come to a barrier"));
    EXPECT_THAT(error_of(state, start<Latecomer>), HasSubstr("none on this node takes part"));
    EXPECT_THAT(error_of(state, start<StrangerMain>), HasSubstr("none on this node takes part"));
    EXPECT_THAT(error_of(state, start<EmptyBarrier>), HasSubstr("a barrier for no threads"));
}

// --- reduction box

struct ReductionState {
    std::int64_t rounds = 5;
    std::vector<std::int64_t> sums, largest;
};

struct ContributorParameters {
    ReductionBox<std::int64_t> sum, largest;
    std::int64_t value;
};
struct Contributor : Threaded<Contributor, ContributorParameters> {
    void init(Em em) {
        contribute(em, sum, value);
        contribute(em, largest, value);
        em.terminate();
    }
};

struct Largest {
    std::int64_t operator()(std::int64_t a, std::int64_t b) const { return std::max(a, b); }
};

struct ReductionMain : Threaded<ReductionMain> {
    ReductionBox<std::int64_t> sum_box, largest_box;
    std::int64_t sum = 0, largest = 0, round = 0;

    void init(Em em) {
        init_reduction<std::plus<>>(em, 0, em.to_global(sum_box), 12, ready);
        init_reduction<Largest>(em, em.num_nodes() - 1, em.to_global(largest_box), 12, ready);
    }
    void begin(Em em) {
        ++round;
        collect_sync(em, sum_box, em.to_global(sum), collected);
        for (std::int64_t i = 0; i < 12; ++i) em.token<Contributor>(sum_box, largest_box, round * (i - 20));
        collect_sync(em, largest_box, em.to_global(largest), collected);
    }
    void next(Em em) {
        auto& shared = state<ReductionState>(em);
        shared.sums.push_back(sum);
        shared.largest.push_back(largest);
        if (round < shared.rounds) return begin(em);
        destroy(em, sum_box);
        destroy(em, largest_box);
        em.terminate();
    }
    Fiber<&ReductionMain::begin> ready{*this, 2};
    Fiber<&ReductionMain::next> collected{*this, 2};
};

TEST(EarthReduction, EveryRoundCombinesAllContributions) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        ReductionState state;
        run(state, start<ReductionMain>, seed);
        ASSERT_EQ(state.sums.size(), 5);
        for (std::int64_t i = 0; i < 5; ++i) {
            ASSERT_EQ(state.sums[i], (i + 1) * (66 - 240)) << "seed " << seed;
            ASSERT_EQ(state.largest[i], (i + 1) * -9) << "seed " << seed;
        }
    }
}

struct ReductionForgetter : Threaded<ReductionForgetter> {
    ReductionBox<std::int64_t> box;

    void init(Em em) { init_reduction<std::plus<>>(em, 1, em.to_global(box), 2, ready); }
    void misuse(Em em) {
        contribute(em, box, 1);
        destroy(em, box);
        em.terminate();
    }
    Fiber<&ReductionForgetter::misuse> ready{*this, 1};
};

TEST(EarthReduction, DestroyedInTheMidstOfARoundIsAnError) {
    OrderState state;
    EXPECT_THAT(error_of(state, start<ReductionForgetter>), HasSubstr("in the midst of a round"));
}

}  // namespace
}  // namespace heddle::earth_testing
