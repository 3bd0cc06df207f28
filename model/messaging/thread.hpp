// A thread of pCoR: an ordinary blocking thread that talks to others by their identifiers or names, wherever
// they are (the pCoR paper, section 3.2). It runs on a strand, so it holds no worker while it waits.
//
//     Handle handle = self.send_copy(to, tag, data, size);
//     handle = self.recv_copy({.thread = from, .tag = tag}, data, size, &actual);
//     self.test_handle(handle, Mode::blocking);
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/messaging/carrier.hpp"
#include "model/messaging/directory.hpp"
#include "model/messaging/handle.hpp"
#include "model/messaging/placed_threads.hpp"
#include "model/messaging/thread_id.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/strands/strands.hpp"

namespace heddle::messaging {

template <auto function>
struct ThreadFunction;

class EndpointCarrier;

class Thread {
public:
    Thread(runtime::Node& node, std::string what);

    ThreadId id() const { return id_of(carrier_->address()); }
    ProcessId process() const { return carrier_->address().node; }
    /// How many processes there may be.
    ProcessId processes() const;
    /// Those that there are now, in the order of their numbers.
    std::vector<ProcessId> members() const;

    /// The strand that runs it, and its worker until the next call that waits.
    runtime::Strand& strand() const { return *strand_; }
    runtime::Worker& worker() const { return strand_->worker(); }
    /// The process's program.
    template <class P>
    P& program() const {
        return static_cast<P&>(worker().program());
    }
    /// Declares `units` units of the program's work (Program::unit).
    void work(std::uint64_t units = 1) const { worker().work(units); }

    // --- messages, asynchronous
    /// Sends `size` bytes, which are copied: they may be changed at once.
    Handle send_copy(ThreadId to, Tag tag, const void* data, std::size_t size);
    /// Sends a block without a copy. Within a process its receiver gets the same memory.
    Handle send_dma(ThreadId to, Tag tag, Block block);
    /// Receives into `data`, at most `size` bytes. `actual` is set when the handle tells that it has ended.
    /// What is named must live until then.
    Handle recv_copy(const From& from, void* data, std::size_t size, Actual* actual = nullptr);
    /// Receives a block, and lets `*block` name it.
    Handle recv_dma(const From& from, Block* block, Actual* actual = nullptr);
    /// True if the operation has ended: a message that was sent has left, a message that is received is here.
    /// With Mode::blocking it waits until then, else for a microsecond at most, in which other threads run.
    /// Throws Error if a message is longer than its `recv_copy` permits.
    bool test_handle(Handle& handle, Mode mode) { return !handle || end_handle(handle, mode); }

    // --- the same in one call: values of any type, by one serialization (runtime::Serialize)
    template <class T>
    void send(ThreadId to, Tag tag, const T& value) {
        send_parcel(to, tag, runtime::parcel_of(value));
    }
    template <class T>
    T receive(const From& from = {}, Actual* actual = nullptr) {
        return runtime::value_of<T>(receive_any(from, actual));
    }

    // --- names
    /// From now on, in all processes, `name` is this thread, and no other one.
    void publish(const std::string& name) { directory().publish(*strand_, name, id()); }
    /// `name` is no thread any more.
    void withdraw(const std::string& name) { directory().withdraw(*strand_, name, id()); }
    /// Which thread that is. Waits until there is one.
    ThreadId find(const std::string& name) { return directory().find(*strand_, name); }

    // --- threads
    /// Starts function(thread, arguments...) as a thread of that process, and returns its identifier. The
    /// arguments travel (runtime::Serialize). Threads are not joined: the run ends when all have.
    template <auto function, class... Given>
    ThreadId create(ProcessId process, Given&&... arguments) {
        return ThreadFunction<function>::create(*strand_, process, std::forward<Given>(arguments)...);
    }
    /// The same on the process that suits a talk with another thread (PlacedThreads).
    template <auto function, class... Given>
    ThreadId create(const Near& near, Given&&... arguments) {
        return create<function>(worker().node().state<PlacedThreads>().choose(near),
                                std::forward<Given>(arguments)...);
    }
    /// The processes that suit threads which talk to each other so, by place: no process gets two more than
    /// another one, and pairs that talk much share a process, else have a good link.
    std::vector<ProcessId> processes_for(const Talk& talk) const {
        return worker().node().state<PlacedThreads>().choose(talk);
    }
    /// Starts function(thread, arguments...) on them. `arguments_of(place)` is a tuple. Returns the threads
    /// by place.
    template <auto function, class ArgumentsOf>
    std::vector<ThreadId> create_together(const Talk& talk, const ArgumentsOf& arguments_of) {
        std::vector<ThreadId> threads;
        for (const ProcessId process : processes_for(talk))
            threads.push_back(std::apply(
                [&](auto&&... given) {
                    return create<function>(process, std::forward<decltype(given)>(given)...);
                },
                arguments_of(Talk::Place{threads.size()})));
        return threads;
    }

private:
    friend class Threads;

    Directory& directory() const { return worker().node().state<Directory>(); }
    Handle start_send(ThreadId to, Tag tag, runtime::Parcel data);
    void note_leaving(const Handle& sent);
    bool end_handle(Handle& handle, Mode mode);
    template <class Code>
    auto with_carrier(const Code& code) const;
    void send_parcel(ThreadId to, Tag tag, runtime::Parcel data);
    runtime::Parcel receive_any(const From& from, Actual* actual);
    void copy(void* to, const void* from, std::size_t bytes);
    bool rest();
    /// Waits until all that was sent has left.
    void end();

    std::unique_ptr<Carrier> carrier_;
    EndpointCarrier* endpoint_;  ///< `carrier_`, if it is one; else null
    std::string what_;           ///< for messages about a thread that waits
    runtime::Strand* strand_ = nullptr;
    std::vector<std::shared_ptr<Left>> leaving_;  ///< of sends that had to wait
    std::unique_ptr<Carrier::Receive> ended_;     ///< a receive, for the next one
};

}  // namespace heddle::messaging
