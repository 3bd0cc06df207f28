// The memory of one dataflow thread: a stack of linked blocks. Each request is contiguous; one that is larger
// than a block gets a block of its own size (the KAAPI paper, section 2.2). Only its thread uses it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::dataflow {

class Stack {
public:
    static constexpr std::size_t block_bytes = std::size_t{32} << 10;
    static constexpr std::size_t alignment = 16;

    Stack() = default;
    ~Stack();
    Stack(const Stack&) = delete;
    Stack& operator=(const Stack&) = delete;

    /// `bytes` of memory, aligned as `alignment` says: in a few instructions, unless a block is full. Then it
    /// calls `full()`.
    template <class Full>
    void* take(std::size_t bytes, const Full& full) {
        bytes = (bytes + alignment - 1) & ~(alignment - 1);
        if (static_cast<std::size_t>(limit_ - top_) < bytes) [[unlikely]] {
            add_block(bytes);
            full();
        }
        std::byte* const taken = top_;
        top_ += bytes;
        return taken;
    }

    void* take(std::size_t bytes) {
        return take(bytes, [] {});
    }

    std::byte* top() const { return top_; }

    /// Gives back all that was taken after `mark`, an earlier `top`.
    void back_to(std::byte* mark) {
        if (mark < begin_ || mark > limit_) [[unlikely]]
            drop_blocks(mark);
        top_ = mark;
    }

    /// Of the blocks that it has now.
    std::size_t bytes() const { return bytes_; }

private:
    struct alignas(16) Block {
        Block* before;
        std::size_t bytes;  ///< without this header
    };
    static std::byte* begin(Block* block) { return reinterpret_cast<std::byte*>(block + 1); }

    void add_block(std::size_t bytes);
    void drop_blocks(const std::byte* mark);
    void use(Block* block);
    void free(Block* block);

    std::byte* top_ = nullptr;
    std::byte* limit_ = nullptr;
    std::byte* begin_ = nullptr;  ///< of the latest block
    Block* latest_ = nullptr;
    Block* spare_ =
        nullptr;  ///< of the usual size, so that a thread at a block's end does not take one again and again
    std::size_t bytes_ = 0;
};

}  // namespace heddle::dataflow
