// Sends and receives a thread's messages through its carrier, and tells when a handle's operation has ended.
#include "model/messaging/thread.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstring>

#include "base/error.hpp"
#include "model/messaging/endpoint_carrier.hpp"
#include "model/messaging/threads.hpp"
#include "runtime/core/copy.hpp"
#include "runtime/core/node.hpp"
#include "runtime/run/report.hpp"
#include "runtime/sources/timers.hpp"

namespace heddle::messaging {

namespace {

void tell(Actual* actual, const runtime::Incoming& message) {
    if (actual) *actual = {id_of(message.from), message.tag, message.data.size()};
}

/// What a process reports of its threads.
class Counts final : public runtime::State<runtime::Node> {
public:
    explicit Counts(runtime::Node& node) : of_workers_(node.cores()) {}

    void add(const runtime::Worker& worker, std::uint64_t messages, std::uint64_t copied_bytes) {
        OfWorker& own = of_workers_[worker.id.core];
        add(own.messages, messages);
        add(own.copied_bytes, copied_bytes);
    }
    void report(runtime::NodeReport& report) const override {
        std::uint64_t messages = 0;
        std::uint64_t copied_bytes = 0;
        for (const OfWorker& worker : of_workers_) {
            messages += worker.messages.load(std::memory_order_relaxed);
            copied_bytes += worker.copied_bytes.load(std::memory_order_relaxed);
        }
        report.answer.push_back({"thread_messages", static_cast<double>(messages)});
        report.answer.push_back({"copied_bytes", static_cast<double>(copied_bytes)});
    }

private:
    using Number = std::atomic<std::uint64_t>;
    /// Only the worker writes it.
    struct alignas(64) OfWorker {
        Number messages{0};      ///< that its threads have sent
        Number copied_bytes{0};  ///< by send_copy and recv_copy
    };
    static void add(Number& number, std::uint64_t more) {
        number.store(number.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
    }

    std::vector<OfWorker> of_workers_;
};

}  // namespace

Thread::Thread(runtime::Node& node, std::string what)
    : carrier_(make_carrier(node)),
      endpoint_(dynamic_cast<EndpointCarrier*>(carrier_.get())),
      what_(fmt::format("thread {} of process {} ({}, endpoint {})", id().thread, node.id(), what,
                        carrier_->address().number)) {}

/// Calls `code` with the carrier. Most are endpoints', whose functions are then in line.
template <class Code>
inline auto Thread::with_carrier(const Code& code) const {
    return endpoint_ ? code(*endpoint_) : code(*carrier_);
}

ProcessId Thread::processes() const {
    return worker().node().topology().nodes;
}

std::vector<ProcessId> Thread::members() const {
    return Threads::processes(worker().node());
}

[[gnu::always_inline]] inline void Thread::copy(void* to, const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    runtime::Worker& own = worker();
    own.node().state<Counts>().add(own, 0, bytes);
    if (bytes == sizeof(std::uint64_t) && own.copies_freely(bytes)) {
        std::memcpy(to, from, sizeof(std::uint64_t));  // in line
    } else if (own.copies_freely(bytes)) {
        std::memcpy(to, from, bytes);
    } else {
        own.copy(runtime::Copy::contiguous(bytes), to, from);
    }
}

Handle Thread::send_copy(ThreadId to, Tag tag, const void* data, std::size_t size) {
    runtime::Worker& own = worker();
    if (own.copies_freely(size)) [[likely]] {
        own.charge(own.costs->message_thread);
        own.node().state<Counts>().add(own, 1, size);
        Handle handle(with_carrier([&](auto& carrier) {
            return carrier.start_copy(own, to, tag, {static_cast<const std::byte*>(data), size});
        }));
        if (handle.left_) [[unlikely]]
            note_leaving(handle);
        return handle;
    }
    return start_send(to, tag,
                      runtime::Parcel::written(size, [&](std::byte* room) { copy(room, data, size); }));
}

Handle Thread::send_dma(ThreadId to, Tag tag, Block block) {
    return start_send(to, tag, runtime::Parcel::block(std::move(block)));
}

Handle Thread::start_send(ThreadId to, Tag tag, runtime::Parcel data) {
    worker().charge(worker().costs->message_thread);
    worker().node().state<Counts>().add(worker(), 1, 0);
    Handle handle;
    handle.left_ = carrier_->start_send(worker(), to, tag, std::move(data));
    if (handle.left_) note_leaving(handle);
    return handle;
}

/// The thread waits for it before it ends.
void Thread::note_leaving(const Handle& sent) {
    if (sent.left_->done()) return;
    std::erase_if(leaving_, [](const auto& left) { return left->done(); });
    leaving_.push_back(sent.left_);
}

void Thread::end() {
    for (const auto& left : leaving_) strand_->wait(*left);
    carrier_->close(worker());
}

Handle Thread::recv_copy(const From& from, void* data, std::size_t size, Actual* actual) {
    Handle handle;
    handle.receive_ = std::move(ended_);
    with_carrier([&](auto& carrier) { carrier.begin_receive(worker(), from, handle.receive_); });
    handle.data_ = data;
    handle.size_ = size;
    handle.actual_ = actual;
    return handle;
}

Handle Thread::recv_dma(const From& from, Block* block, Actual* actual) {
    Handle handle = recv_copy(from, nullptr, 0, actual);
    handle.block_ = block;
    return handle;
}

/// A thread that tests again and again must not keep its worker from what it waits for, nor the time of a
/// simulation from going on.
bool Thread::rest() {
    runtime::sleep_for(*strand_, std::chrono::microseconds(1));
    return false;
}

/// It has not ended yet.
bool Thread::end_handle(Handle& handle, Mode mode) {
    if (handle.left_) {
        if (mode == Mode::non_blocking && !handle.left_->done()) return rest();
        strand_->wait(*handle.left_);
        handle.left_.reset();
        return true;
    }
    if (mode == Mode::non_blocking && !carrier_->has_come(worker(), *handle.receive_)) return rest();
    runtime::Incoming message =
        with_carrier([&](auto& carrier) { return carrier.end_receive(*strand_, *handle.receive_); });
    worker().charge(worker().costs->message_thread);
    ended_ = std::move(handle.receive_);
    tell(handle.actual_, message);
    if (handle.block_) {
        *handle.block_ = message.data.take_body();
        return true;
    }
    const auto bytes = message.data.bytes();
    if (bytes.size() > handle.size_)
        throw Error(fmt::format("{} receives a message of {} bytes with tag {} where it has room for {}",
                                what_, bytes.size(), message.tag, handle.size_),
                    "give recv_copy more room, or use recv_dma");
    copy(handle.data_, bytes.data(), bytes.size());
    return true;
}

void Thread::send_parcel(ThreadId to, Tag tag, runtime::Parcel data) {
    worker().charge(worker().costs->message_thread);
    worker().node().state<Counts>().add(worker(), 1, 0);
    carrier_->send(*strand_, to, tag, std::move(data));
}

runtime::Parcel Thread::receive_any(const From& from, Actual* actual) {
    runtime::Incoming message = carrier_->receive(*strand_, from);
    worker().charge(worker().costs->message_thread);
    tell(actual, message);
    return std::move(message.data);
}

}  // namespace heddle::messaging
