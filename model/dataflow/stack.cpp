// Adds blocks to a dataflow thread's stack, and gives them back.
#include "model/dataflow/stack.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace heddle::dataflow {

Stack::~Stack() {
    while (latest_) free(std::exchange(latest_, latest_->before));
    if (spare_) free(spare_);
}

void Stack::free(Block* block) {
    bytes_ -= block->bytes;
    ::operator delete (block, std::align_val_t{alignof(Block)});
}

void Stack::use(Block* block) {
    latest_ = block;
    begin_ = block ? begin(block) : nullptr;
    limit_ = block ? begin_ + block->bytes : nullptr;
}

void Stack::add_block(std::size_t bytes) {
    Block* block = nullptr;
    if (bytes <= block_bytes && spare_) {
        block = std::exchange(spare_, nullptr);
    } else {
        const std::size_t size = std::max(bytes, block_bytes);
        block = static_cast<Block*>(::operator new (sizeof(Block) + size, std::align_val_t{alignof(Block)}));
        block->bytes = size;
        bytes_ += size;
    }
    block->before = latest_;
    use(block);
    top_ = begin_;
}

void Stack::drop_blocks(const std::byte* mark) {
    while (latest_ && (mark < begin_ || mark > limit_)) {
        Block* const dropped = latest_;
        use(dropped->before);
        if (dropped->bytes == block_bytes && !spare_) {
            spare_ = dropped;
        } else {
            free(dropped);
        }
    }
}

}  // namespace heddle::dataflow
