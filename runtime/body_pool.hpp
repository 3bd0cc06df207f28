// Reuses the memory of large messages (bodies) after their last user has released them. Fresh memory is
// mapped page by page when first touched, which takes longer than to write to it. The pool is small.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/core/spin_lock.hpp"

namespace heddle::runtime {

class BodyPool : public std::enable_shared_from_this<BodyPool> {
public:
    /// Keeps no spare body of more bytes.
    explicit BodyPool(std::size_t spare_bytes_max) : spare_bytes_max_(spare_bytes_max) {}

    /// A body of `size` bytes that are not filled. When its last user releases it, on any thread, its memory
    /// returns to the pool. Until then the body keeps the pool alive.
    Body make(std::size_t size);

private:
    static constexpr std::size_t spare_max = 4;

    void take_back(Bytes* bytes);

    std::size_t spare_bytes_max_;
    SpinLock lock_;
    std::vector<std::unique_ptr<Bytes>> spare_;
};

}  // namespace heddle::runtime
