// Huge pages for the heap of a simulation. A visit to a node reads a dozen small objects. With thousands of
// nodes, the processor's table of pages (TLB) is too small for the pages of all of them.
#pragma once

#include <cstddef>

namespace heddle::sim {

/// Makes the heap larger by about `bytes`, which lie in huge pages as far as the kernel grants them: what it
/// refuses is only slower. They are committed as they are used. The heap stays so large for this one's life.
class HugeHeap {
public:
    explicit HugeHeap(std::size_t bytes);
    ~HugeHeap();
    HugeHeap(const HugeHeap&) = delete;
    HugeHeap& operator=(const HugeHeap&) = delete;
};

}  // namespace heddle::sim
