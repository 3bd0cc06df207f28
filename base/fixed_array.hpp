// A row of objects that are made one by one in their places and never move, for types that cannot be moved.
// One look at the row finds each of them. It does not grow.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "base/assert.hpp"

namespace heddle {

template <class T>
class FixedArray {
public:
    /// Room for `capacity` objects.
    explicit FixedArray(std::size_t capacity)
        : begin_(std::allocator<T>().allocate(capacity)), capacity_(capacity) {}
    ~FixedArray() {
        clear();
        std::allocator<T>().deallocate(begin_, capacity_);
    }
    FixedArray(const FixedArray&) = delete;
    FixedArray& operator=(const FixedArray&) = delete;

    /// Makes the next object. The caller must not make more than there is room for.
    template <class... Arguments>
    T& emplace_back(Arguments&&... arguments) {
        HEDDLE_ASSERT(size_ < capacity_);
        T* const made = std::construct_at(begin_ + size_, std::forward<Arguments>(arguments)...);
        ++size_;
        return *made;
    }

    /// Destroys all objects, the latest first.
    void clear() {
        while (size_ > 0) std::destroy_at(begin_ + --size_);
    }

    std::size_t size() const { return size_; }
    T& operator[](std::size_t index) { return begin_[index]; }
    const T& operator[](std::size_t index) const { return begin_[index]; }
    T* begin() { return begin_; }
    T* end() { return begin_ + size_; }
    const T* begin() const { return begin_; }
    const T* end() const { return begin_ + size_; }

private:
    T* begin_;
    std::size_t size_ = 0;
    std::size_t capacity_;
};

}  // namespace heddle
