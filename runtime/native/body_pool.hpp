// Reuses the memory of large received messages (bodies) after their last user has released them. Fresh memory
// is mapped page by page when first touched, which takes longer than receiving into it. The pool is small.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/backend.hpp"

namespace heddle::native {

class BodyPool : public std::enable_shared_from_this<BodyPool> {
public:
    /// A body of `size` bytes that are not filled. When its last user releases it, on any thread, its memory
    /// returns to the pool. Until then the body keeps the pool alive.
    runtime::Body make(std::size_t size);

private:
    static constexpr std::size_t spare_max = 4;
    static constexpr std::size_t spare_bytes_max = 4 << 20;  ///< of one

    void take_back(runtime::Bytes* bytes);

    std::mutex mutex_;
    std::vector<std::unique_ptr<runtime::Bytes>> spare_;
};

}  // namespace heddle::native
