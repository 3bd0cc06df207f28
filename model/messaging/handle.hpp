// What a thread has of a send or receive that it has begun (section 3.2: `int hndl`, and testHandle).
#pragma once

#include <cstddef>
#include <memory>

#include "model/messaging/thread_id.hpp"
#include "runtime/core/wait.hpp"

namespace heddle::messaging {

/// Memory that messages need not copy (section 4.2: a DMAble block). Any thread that has it may read it; its
/// maker does not write it after it was sent.
using Block = runtime::Body;

/// Whether `test_handle` waits.
enum class Mode : std::uint8_t { non_blocking, blocking };

class Handle {
public:
    Handle() = default;

    /// Whether its operation was begun, and not found to have ended.
    explicit operator bool() const { return left_ || receives_; }

    /// The message has left: its data may be changed.
    class Left final : public runtime::Event {
    public:
        std::string what() const override { return "room to send a message"; }
    };

private:
    friend class Thread;

    std::shared_ptr<Left> left_;
    // Of a receive.
    bool receives_ = false;
    runtime::Endpoint::Receive receive_;
    void* data_ = nullptr;  ///< where the message is to be copied
    std::size_t size_ = 0;
    Block* block_ = nullptr;  ///< or where it is to be named
    Actual* actual_ = nullptr;
};

}  // namespace heddle::messaging
