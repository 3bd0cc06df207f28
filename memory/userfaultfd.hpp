// Controls access to pages by Linux's userfaultfd. A page that permits nothing is not mapped; one that
// permits reading is write-protected. Any other access raises SIGBUS. The mapping stays one, however many
// pages differ.
#pragma once

#include <cstddef>
#include <optional>

#include "runtime/memory_view.hpp"

namespace heddle::memory {

/// Found out once, by trying every operation below on one page.
bool has_userfaultfd();

/// From now on accesses to this mapping of a file of memory are checked; no page permits anything. Throws
/// Error if the system refuses.
void watch_mapping(std::byte* begin, std::size_t bytes);

/// `contents`: the same bytes in a mapping that is not watched. `before`: MemoryView::set_access. All bytes
/// must permit the same before. Throws Error if the system refuses.
void set_access(std::byte* begin, const std::byte* contents, std::size_t bytes, runtime::Access access,
                std::optional<runtime::Access> before);

}  // namespace heddle::memory
