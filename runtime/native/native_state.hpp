// The state of a NativeBackend, for the files that implement it: native_backend.cpp, native_threads.cpp (the
// workers' threads) and native_members.cpp (nodes that join and leave).
#pragma once

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <vector>

#include "host/machine.hpp"
#include "runtime/native/coordination.hpp"
#include "runtime/native/io_threads.hpp"
#include "runtime/native/member_changes.hpp"
#include "runtime/native/native_backend.hpp"
#include "runtime/native/parker.hpp"
#include "runtime/native/polled_mesh.hpp"
#include "runtime/native/relay.hpp"
#include "runtime/native/run_start.hpp"

namespace heddle::native {

/// What one context has done last. Its own thread writes it; another one may stand in for the receiver, one
/// at a time.
struct alignas(64) OfContext final : runtime::BackendPart {
    std::atomic<Time::rep> time{0};      ///< when it has read the clock, in picoseconds
    std::atomic<std::uint64_t> sent{0};  ///< messages
    /// The memory of a message that was written at once, for the next one.
    runtime::Bytes spare;
};

/// Adds to a counter that one thread at a time writes.
inline void count_one(std::atomic<std::uint64_t>& counter) {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

struct NativeBackend::State {
    NativeOptions options;
    NodeId rank = 0;
    runtime::Topology topology;
    std::vector<Parker> parkers;
    std::vector<OfContext> of_contexts;  ///< of each worker, and of the receiver
    bool own_cores = false;              ///< each worker has a core to itself
    std::chrono::nanoseconds spin{};
    unsigned first_core = 0;
    bool bind = false;

    runtime::NodeProgram* program = nullptr;
    std::unique_ptr<Transport> transport;
    PolledMesh* polled = nullptr;  ///< the transport, where workers poll it
    Mesh* threaded = nullptr;      ///< the transport, where workers that rest receive
    std::optional<Relay> relay;    ///< what control frames go through
    std::unique_ptr<Coordination> coordination;
    std::optional<MemberChanges> changes;  ///< where nodes may join and leave
    std::mutex io_mutex;                   ///< over making the next
    std::optional<IoThreads> io;
    std::atomic<std::uint32_t> resting{0};  ///< workers that park
    std::atomic<std::uint64_t> delivered{0};

    RunStart run_start;
    Time clock_error{};  ///< Coordination::clock_error
    std::vector<std::string> hosts{host::host_name()};

    // Workers wait here for the start.
    std::mutex mutex;
    std::condition_variable changed;
    CoreId ready = 0;
    std::atomic<bool> released{false};
    bool cancelled = false;
    std::exception_ptr failure;
    std::string lost;

    struct Start {
        State* state;
        CoreId core;
    };
    std::vector<Start> starts;
    std::vector<pthread_t> threads;

    void begin(Clock::time_point zero);
    std::vector<MeshNetwork> mesh_networks() const;
    void meet();
    std::vector<unsigned> cores_of_threads() const;
    void start_threads();
    Coordination::Started start_transport();
    void end_transport();
    void release(bool cancel);
    bool await_release();
    void join();
    void work(CoreId core);
    /// The worker of this node that the calling thread is; null if it is none.
    runtime::Context* running() const;
    void deliver(NodeId from, std::span<const std::byte> message, runtime::Body body, std::uint64_t in_room);
    runtime::NodeProgram::Room room(NodeId from, std::span<const std::byte> message, std::uint64_t bytes);
    void lose(NodeId node, const std::string& reason);
    void begin_changes();
    void ask_to_leave();
    void request(const StartRequest& request);
    bool end_well();
    void note_over();
    [[noreturn]] void throw_lost();
    [[noreturn]] void end_process(int code, const std::string& text);
};

}  // namespace heddle::native
