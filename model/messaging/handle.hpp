// The handle of a send or receive that a thread has begun (the pCoR paper, section 3.2: `int hndl`, and
// testHandle).
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "model/messaging/carrier.hpp"
#include "model/messaging/thread_id.hpp"

namespace heddle::messaging {

/// Whether `test_handle` waits.
enum class Mode : std::uint8_t { non_blocking, blocking };

class Handle {
public:
    Handle() = default;

    /// Whether its operation may not have ended yet.
    explicit operator bool() const { return left_ || receive_; }

private:
    friend class Thread;

    explicit Handle(std::shared_ptr<Left>&& left) : left_(std::move(left)) {}

    std::shared_ptr<Left> left_;
    // Of a receive.
    std::unique_ptr<Carrier::Receive> receive_;
    void* data_ = nullptr;  ///< where the message is to be copied
    std::size_t size_ = 0;
    Block* block_ = nullptr;  ///< or where it is to be named
    Actual* actual_ = nullptr;
};

}  // namespace heddle::messaging
