// Copies out of and into shared memory, page by page. The C library's copy may touch the pages in any order,
// and in which depends on where private memory lies: in a simulation on several threads, elsewhere in each
// run. The faults would come in that order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace heddle::dsm {

/// How many of `bytes` can be copied before the next page of either side begins.
inline std::size_t bytes_within_pages(std::uintptr_t from, std::uintptr_t to, std::size_t bytes) {
    constexpr std::size_t page = 4096;  // every page of shared memory is a multiple of it
    return std::min({bytes, page - from % page, page - to % page});
}

/// Copies `count` elements, which do not overlap, from the first one to the last.
template <class T>
void copy_in_order(const T* from, std::size_t count, T* to) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* source = reinterpret_cast<const std::byte*>(from);
    auto* target = reinterpret_cast<std::byte*>(to);
    for (std::size_t left = count * sizeof(T); left != 0;) {
        const std::size_t part = bytes_within_pages(reinterpret_cast<std::uintptr_t>(source),
                                                    reinterpret_cast<std::uintptr_t>(target), left);
        std::memcpy(target, source, part);
        source += part;
        target += part;
        left -= part;
    }
}

}  // namespace heddle::dsm
