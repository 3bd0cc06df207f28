// Gives each shared array its place in a node's shared pages, and finds the array of a page.
#include "model/dsm/arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.hpp"
#include "base/fnv1a.hpp"

namespace heddle::dsm {

namespace {

/// Leaves room for sums.
constexpr std::uint64_t bytes_max = std::uint64_t{1} << 46;

/// A program that goes through several arrays in step is slow if they lie a power of two apart: then what it
/// uses at a time has the same place in caches. So a page is left out before an array of this size.
constexpr std::uint64_t large_bytes = 256U << 10;

std::uint64_t round_up(std::uint64_t value, std::uint64_t step) {
    return (value + step - 1) / step * step;
}

}  // namespace

std::uint64_t Arrays::add(std::string name, std::uint64_t count, std::uint64_t element_bytes,
                          std::uint64_t element_align, const Layout& layout) {
    if (closed_)
        throw Error(fmt::format("the array {} is allocated after the shared memory was sealed", name),
                    "allocate all arrays before `seal`");
    const std::uint64_t align = layout.align_bytes == 0 ? page_bytes_ : layout.align_bytes;
    if (!std::has_single_bit(align) && align != page_bytes_)
        throw Error(fmt::format("the array {} would be aligned to {} bytes", name, align),
                    "align to a power of two, or to 0: then it begins on a page of its own");
    const bool apart = end_ != 0 && layout.align_bytes == 0 && count > (large_bytes - 1) / element_bytes;
    const std::uint64_t offset = round_up(end_ + (apart ? page_bytes_ : 0), std::max(align, element_align));
    if (count == 0 || offset > bytes_max || count > (bytes_max - offset) / element_bytes)
        throw Error(fmt::format("the array {} would have {} elements of {} bytes, aligned to {} bytes", name,
                                count, element_bytes, align),
                    "let arrays have one element at least, and 64 TiB together at most");
    Array array;
    array.name = std::move(name);
    array.offset = offset;
    array.count = count;
    array.element_bytes = element_bytes;
    array.row = layout.row == 0 ? count : layout.row;
    array.homes = layout.homes;
    // The page that an array before it ends in stays with that one.
    array.first_page = array.offset / page_bytes_;
    if (array.first_page * page_bytes_ < end_) ++array.first_page;
    end_ = array.offset + array.bytes();
    array.pages = pages() > array.first_page ? pages() - array.first_page : 0;
    array.block = std::max<PageId>(1, (array.pages + nodes_ - 1) / nodes_);
    all_.push_back(std::move(array));
    return all_.back().offset;
}

const Array* Arrays::of_page(PageId page) const {
    auto after = std::upper_bound(all_.begin(), all_.end(), page,
                                  [](PageId id, const Array& array) { return id < array.first_page; });
    // Of those that begin at the same page, only the last has pages of its own.
    while (after != all_.begin()) {
        const Array& array = *--after;
        if (page < array.first_page + array.pages) return &array;
        if (array.pages != 0) break;
    }
    return nullptr;
}

NodeId Arrays::home(PageId page) const {
    const Array* const array = of_page(page);
    if (!array) return static_cast<NodeId>(page % nodes_);
    if (array->homes == Homes::first_node) return 0;
    if (array->homes == Homes::cyclic_rows) return static_cast<NodeId>(rows(page).first % nodes_);
    const PageId place = page - array->first_page;
    if (placement_ == runtime::SharedPages::Placement::block)
        return static_cast<NodeId>(place / array->block);
    return static_cast<NodeId>(place % nodes_);
}

/// A layout that names homes names where pages begin.
bool Arrays::begins_at_home(PageId page) const {
    if (placement_ != runtime::SharedPages::Placement::first) return true;
    const Array* const array = of_page(page);
    return array && array->homes != Homes::as_set;
}

Arrays::Rows Arrays::rows(PageId page) const {
    const Array* const array = of_page(page);
    if (!array) return {};
    const std::uint64_t row_bytes = array->row * array->element_bytes;
    const std::uint64_t begin = page * page_bytes_ - std::min(page * page_bytes_, array->offset);
    const std::uint64_t end = std::min((page + 1) * page_bytes_ - array->offset, array->bytes());
    return {begin / row_bytes, (end - 1) / row_bytes};
}

std::string Arrays::describe(PageId page) const {
    const Array* const array = of_page(page);
    if (!array) return fmt::format("page {} of the shared memory", page);
    const PageId place = page - array->first_page;
    if (array->row == array->count) return fmt::format("page {} of {}", place, array->name);
    return fmt::format("page {} of {} (rows {} to {})", place, array->name, rows(page).first,
                       rows(page).last);
}

std::uint64_t Arrays::digest() const {
    Fnv1a hash;
    for (const Array& array : all_) {
        hash.add_text(array.name);
        for (const std::uint64_t value :
             {array.offset, array.count, array.element_bytes, array.row, std::uint64_t(array.homes)})
            hash.add(value);
    }
    return hash.value();
}

}  // namespace heddle::dsm
