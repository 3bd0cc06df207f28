// The threads of a native node's workers: their start, their life, their end.
#include <fmt/format.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/error.hpp"
#include "base/stack_guard.hpp"
#include "host/machine.hpp"
#include "runtime/native/native_state.hpp"

namespace heddle::native {

using runtime::Context;

namespace {

/// How long workers that are ready spin until the others are, where they would otherwise wake up one by one.
constexpr std::chrono::milliseconds start_spin{2};

constexpr std::size_t stack_guard_bytes = std::size_t{64} << 10;

/// The guard below the calling worker's own stack.
StackGuard::Stacks guard_of_this_thread(std::uint64_t stack_bytes, CoreId core) {
    StackGuard::Stacks stacks;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return stacks;
    void* lowest = nullptr;
    std::size_t size = 0;
    std::size_t guard = 0;
    pthread_attr_getstack(&attributes, &lowest, &size);
    pthread_attr_getguardsize(&attributes, &guard);
    pthread_attr_destroy(&attributes);
    stacks.begin = static_cast<const char*>(lowest) - guard;
    stacks.distance = stacks.guard = guard;
    stacks.count = 1;
    stacks.bytes = stack_bytes;
    stacks.owner = fmt::format("worker {}", core);
    return stacks;
}

}  // namespace

void NativeBackend::State::start_threads() {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const auto least = static_cast<std::size_t>(sysconf(_SC_THREAD_STACK_MIN));
    const std::size_t stack = (std::max(options.stack_bytes, least) + page - 1) / page * page;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    int error = pthread_attr_setstacksize(&attributes, stack);
    // Wider than a page: the frame that overflows may be larger than that.
    if (!error) error = pthread_attr_setguardsize(&attributes, stack_guard_bytes);
    starts.reserve(topology.cores);
    for (CoreId core = 0; core < topology.cores && !error; ++core) {
        starts.push_back({this, core});
        pthread_t thread{};
        error = pthread_create(
            &thread, &attributes,
            [](void* start) -> void* {
                static_cast<Start*>(start)->state->work(static_cast<Start*>(start)->core);
                return nullptr;
            },
            &starts.back());
        if (!error) threads.push_back(thread);
    }
    pthread_attr_destroy(&attributes);
    if (!error) {
        std::unique_lock lock(mutex);
        return changed.wait(lock, [this] { return ready == topology.cores; });
    }
    release(true);
    join();
    throw Error(fmt::format("cannot start {} workers with stacks of {} bytes: {}", topology.cores, stack,
                            error_text(error)),
                "use fewer cores or smaller stacks");
}

void NativeBackend::State::release(bool cancel) {
    const std::lock_guard lock(mutex);
    cancelled = cancel;
    released.store(true, std::memory_order_release);
    changed.notify_all();
}

/// Where a worker waits until all are there and time begins. False: it does not.
bool NativeBackend::State::await_release() {
    {
        const std::lock_guard lock(mutex);
        if (++ready == topology.cores) changed.notify_all();
    }
    if (own_cores && topology.nodes == 1) {
        const auto end = Clock::now() + start_spin;
        while (!released.load(std::memory_order_acquire) && Clock::now() < end) std::this_thread::yield();
    }
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return released.load(std::memory_order_relaxed); });
    return !cancelled;
}

void NativeBackend::State::join() {
    for (const pthread_t thread : threads) pthread_join(thread, nullptr);
    threads.clear();
}

namespace {

/// The worker that this thread is.
struct RunningWorker {
    const void* state = nullptr;
    runtime::Context* context = nullptr;
};
thread_local RunningWorker of_this_thread;

}  // namespace

runtime::Context* NativeBackend::State::running() const {
    return of_this_thread.state == this ? of_this_thread.context : nullptr;
}

/// The life of one worker's thread.
void NativeBackend::State::work(CoreId core) {
    of_this_thread = {this, &program->context(core)};
    // A core that refuses costs speed only.
    if (bind) (void)host::bind_to_core(first_core + core);
    prctl(PR_SET_TIMERSLACK, 1000UL);  // nanoseconds: parks with a deadline are often short
    const SignalStack signals;
    const StackGuard guard(guard_of_this_thread(options.stack_bytes, core));
    if (!await_release()) return;
    std::this_thread::sleep_until(run_start.zero());
    try {
        program->work(core);
    } catch (const std::exception& error) {
        // Other workers or nodes may wait for this worker for ever. If there are none, the caller gets the
        // error.
        if (topology.nodes > 1 || topology.cores > 1)
            end_process(exit_code_failed, fmt::format("node {}: {}", rank, error.what()));
        failure = std::current_exception();
    }
}

}  // namespace heddle::native
