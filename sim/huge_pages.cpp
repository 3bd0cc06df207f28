// Extends the heap to a border of huge pages and asks the kernel to use them there.
#include "sim/huge_pages.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace heddle::sim {

namespace {

constexpr std::size_t huge = std::size_t{2} << 20;

/// More is left to the kernel: huge pages are committed whole.
constexpr std::size_t heap_bytes_max = std::size_t{256} << 20;

/// Parts of large messages are of 1 MiB (Endpoint::part_bytes).
constexpr int message_bytes_max = 2 << 20;

std::uintptr_t heap_end() {
    return reinterpret_cast<std::uintptr_t>(::sbrk(0));
}

}  // namespace

HugeHeap::HugeHeap(std::size_t bytes) {
#ifdef M_TOP_PAD
    if (bytes < huge) return;
    bytes = std::min(bytes, heap_bytes_max);
    const std::uintptr_t begin = (heap_end() + huge - 1) / huge * huge;
    // The heap grows by what is asked for and this; what is given back leaves so much of it.
    ::mallopt(M_TOP_PAD, static_cast<int>(bytes + huge));
    // With that call the C library no longer adapts this bound, so that a message of 128 KiB would be a
    // mapping of its own, whose pages the kernel clears and takes back each time.
    ::mallopt(M_MMAP_THRESHOLD, message_bytes_max);
    constexpr std::size_t piece = std::size_t{64} << 10;  // of the heap, not a mapping of its own
    constexpr std::size_t pieces_max = 128;               // or the heap is not where it grows
    std::vector<std::unique_ptr<char[]>> pieces;
    while (heap_end() < begin && pieces.size() < pieces_max)
        pieces.push_back(std::make_unique_for_overwrite<char[]>(piece));
    pieces.clear();
    const std::uintptr_t end = heap_end() / huge * huge;
    if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

HugeHeap::~HugeHeap() {
#ifdef M_TOP_PAD
    constexpr int by_default = 128 << 10;
    ::mallopt(M_TOP_PAD, by_default);
#endif
}

}  // namespace heddle::sim
