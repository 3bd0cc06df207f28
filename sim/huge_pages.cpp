#include "sim/huge_pages.hpp"

#include <linux/mman.h>
#include <sys/mman.h>
#include <unistd.h>

namespace heddle::sim {

namespace {

constexpr std::uintptr_t huge = std::uintptr_t{2} << 20;

std::uintptr_t heap_end() {
    return reinterpret_cast<std::uintptr_t>(::sbrk(0));
}

}  // namespace

HeapGrowth::HeapGrowth() : begin_(heap_end()) {}

void HeapGrowth::move_to_huge_pages() const {
#ifdef MADV_COLLAPSE
    const std::uintptr_t begin = (begin_ + huge - 1) / huge * huge;
    const std::uintptr_t end = heap_end() / huge * huge;
    if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_COLLAPSE);
#endif
}

}  // namespace heddle::sim
