// Huge pages for the heap of a simulation. A visit to a node touches a dozen small objects, and with a
// thousand nodes most of the pages they lie on are not in the processor's table of pages any more.
#pragma once

#include <cstdint>

namespace heddle::sim {

/// The part of the heap that grows from its construction on.
class HeapGrowth {
public:
    HeapGrowth();

    /// Has the kernel move what was allocated since then to huge pages, as far as it can: what it refuses
    /// is only slower.
    void move_to_huge_pages() const;

private:
    std::uintptr_t begin_;
};

}  // namespace heddle::sim
