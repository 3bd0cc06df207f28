// Knows where each array of a shared memory lies, and which node is the home of each page. It holds no
// contents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "runtime/run/schedule.hpp"

namespace heddle::dsm {

using PageId = std::uint64_t;

/// Which nodes are the homes of an array's pages.
enum class Homes : std::uint8_t {
    as_set,       ///< as `schedule.memory.placement` says
    first_node,   ///< node 0, for all
    cyclic_rows,  ///< of a page that row r begins in or runs through: node r modulo the nodes
};

/// How an array lies in memory.
struct Layout {
    std::uint64_t row = 0;          ///< elements in a row; 0: the array is one row
    std::uint64_t align_bytes = 0;  ///< a power of two; 0: it begins on a page of its own
    Homes homes = Homes::as_set;
};

struct Array {
    std::string name;
    std::uint64_t offset = 0;  ///< bytes
    std::uint64_t count = 0;   ///< elements
    std::uint64_t element_bytes = 1;
    std::uint64_t row = 0;  ///< elements
    PageId first_page = 0;
    PageId pages = 0;
    PageId block = 1;  ///< pages in a row with the same home
    Homes homes = Homes::as_set;

    std::uint64_t bytes() const { return count * element_bytes; }
};

class Arrays {
public:
    Arrays(std::size_t page_bytes, NodeId nodes, runtime::SharedPages::Placement placement)
        : page_bytes_(page_bytes), nodes_(nodes), placement_(placement) {}

    /// Returns where the array begins. Throws Error where memory has no room, or after `close`.
    std::uint64_t add(std::string name, std::uint64_t count, std::uint64_t element_bytes,
                      std::uint64_t element_align, const Layout& layout);

    /// No more arrays.
    void close() { closed_ = true; }

    /// Bytes up to the end of the last page.
    std::uint64_t bytes() const { return pages() * page_bytes_; }
    PageId pages() const { return (end_ + page_bytes_ - 1) / page_bytes_; }
    std::size_t page_bytes() const { return page_bytes_; }

    const std::vector<Array>& all() const { return all_; }
    /// The array that the page begins in. Null between arrays.
    const Array* of_page(PageId page) const;
    /// Its place in `all`; their number between arrays.
    std::size_t index_of(PageId page) const {
        const Array* const array = of_page(page);
        return array ? static_cast<std::size_t>(array - all_.data()) : all_.size();
    }
    /// The first and last row of the page's array that lie in it.
    struct Rows {
        std::uint64_t first = 0;
        std::uint64_t last = 0;
    };
    Rows rows(PageId page) const;
    NodeId home(PageId page) const;
    /// Else the first node that touches it has it first, as zeros.
    bool begins_at_home(PageId page) const;
    /// "page 3 of old (rows 4 to 6)": for messages.
    std::string describe(PageId page) const;

    /// The same for the same arrays, and hardly so for others.
    std::uint64_t digest() const;

private:
    std::size_t page_bytes_;
    NodeId nodes_;
    runtime::SharedPages::Placement placement_;
    std::vector<Array> all_;
    std::uint64_t end_ = 0;
    bool closed_ = false;
};

}  // namespace heddle::dsm
