// Checks pages out and in that the node already has (checkouts.hpp). pages.cpp waits for pages that the node
// does not have.
#include "model/dsm/checkouts.hpp"

#include "model/dsm/pages.hpp"

namespace heddle::dsm {

Checkouts::Slot* Pages::check_out(runtime::Worker& worker, std::span<const Range> ranges) {
    Checkouts::Slot* const slot = checkouts_.free_slot(worker.id.core);
    if (!slot || ranges.size() > Checkouts::Slot::most) return nullptr;
    const std::uint64_t bytes = table_.pages() * page_bytes_;
    std::size_t used = 0;
    for (const Range& range : ranges) {
        if (range.bytes == 0) continue;
        const std::uint64_t last = range.offset + range.bytes - 1;
        const PageId first = page_of(range.offset);
        const Checkouts::Span span{first, page_of(last) - first + 1};
        if (range.offset > last || last >= bytes || !span.is_short()) {
            end_checkout(worker, *slot);
            return nullptr;
        }
        slot->set(used++, span);
    }
    const bool waits = slot->publish();
    bool here = used != 0;
    used = 0;
    for (const Range& range : ranges) {
        if (range.bytes == 0) continue;
        const Checkouts::Span span = slot->get(used++);
        for (PageId page = span.first; page < span.first + span.count; ++page)
            here = here && table_.opened(page) >= range.access;
    }
    if (here) return slot;
    end_checkout(worker, *slot, waits);
    return nullptr;
}

/// `waits`: a handler is known to wait already.
void Pages::end_checkout(runtime::Worker& worker, Checkouts::Slot& slot, bool waits) {
    std::array<Checkouts::Span, Checkouts::Slot::most> spans;
    for (std::size_t i = spans.size(); i > 0; --i) {
        spans[i - 1] = slot.get(i - 1);
        if (spans[i - 1].count != 0) slot.set(i - 1, {});
    }
    if (!slot.publish() && !waits) return;
    for (const Checkouts::Span& span : spans)
        for (PageId page = span.first; page < span.first + span.count; ++page) serve_deferred(worker, page);
}

}  // namespace heddle::dsm
