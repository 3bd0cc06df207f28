// Gives memory to a large received message: a spare block of suitable size, or a new one.
#include "runtime/native/body_pool.hpp"

#include <algorithm>
#include <utility>

namespace heddle::native {

runtime::Body BodyPool::make(std::size_t size) {
    std::unique_ptr<runtime::Bytes> bytes;
    {
        const std::lock_guard lock(mutex_);
        // Not a far larger one: a small body must not hold much memory.
        const auto found = std::find_if(spare_.rbegin(), spare_.rend(), [size](const auto& spare) {
            return spare->capacity() >= size && spare->capacity() / 4 <= size;
        });
        if (found != spare_.rend()) {
            bytes = std::move(*found);
            spare_.erase(std::next(found).base());
        }
    }
    if (!bytes) bytes = std::make_unique<runtime::Bytes>();
    bytes->resize(size);
    return {bytes.release(), [pool = shared_from_this()](runtime::Bytes* done) { pool->take_back(done); }};
}

void BodyPool::take_back(runtime::Bytes* bytes) {
    std::unique_ptr<runtime::Bytes> done(bytes);
    if (done->capacity() > spare_bytes_max) return;
    const std::lock_guard lock(mutex_);
    if (spare_.size() == spare_max) spare_.erase(spare_.begin());
    spare_.push_back(std::move(done));
}

}  // namespace heddle::native
