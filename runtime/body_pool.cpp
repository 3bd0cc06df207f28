// Gives memory to a large message: a spare block of suitable size, or a new one.
#include "runtime/body_pool.hpp"

#include <algorithm>
#include <utility>

namespace heddle::runtime {

Body BodyPool::make(std::size_t size) {
    std::unique_ptr<Bytes> bytes;
    {
        const SpinLock::Guard guard(lock_);
        // Not a far larger one: a small body must not hold much memory.
        const auto found = std::find_if(spare_.rbegin(), spare_.rend(), [size](const auto& spare) {
            return spare->capacity() >= size && spare->capacity() / 4 <= size;
        });
        if (found != spare_.rend()) {
            bytes = std::move(*found);
            spare_.erase(std::next(found).base());
        }
    }
    if (!bytes) bytes = std::make_unique<Bytes>();
    bytes->resize(size);
    return {bytes.release(), [pool = shared_from_this()](Bytes* done) { pool->take_back(done); }};
}

void BodyPool::take_back(Bytes* bytes) {
    std::unique_ptr<Bytes> done(bytes);
    if (done->capacity() > spare_bytes_max_) return;
    std::unique_ptr<Bytes> oldest;  // freed outside the lock
    const SpinLock::Guard guard(lock_);
    if (spare_.size() == spare_max) {
        oldest = std::move(spare_.front());
        spare_.erase(spare_.begin());
    }
    spare_.push_back(std::move(done));
}

}  // namespace heddle::runtime

template class std::vector<std::byte, heddle::runtime::Unfilled<std::byte>>;
