// The write-invalidate protocol of shared memory: a page has one writer, or many readers (Li, Hudak: "Memory
// coherence in shared virtual memory systems", TOCS 1989). Before a node writes, all other nodes give their
// copies up. Sequentially consistent.
#include <algorithm>

#include "model/dsm/directory.hpp"
#include "model/dsm/pages.hpp"

namespace heddle::dsm {

namespace {

class WriteInvalidate final : public DirectoryProtocol {
public:
    using DirectoryProtocol::DirectoryProtocol;

    bool give(const Demand& demand, Page& page, Grant& grant, Charges& charges) override {
        if (demand.kind == Demand::Kind::copy) {
            grant.access = Access::read;
            if (page.access == Access::write) pages_.set_access(demand.page, page, Access::read, charges);
            return true;
        }
        pages_.give_up(demand.page, page, charges);
        if (demand.kind == Demand::Kind::drop) {
            grant.acks = -1;
            return false;
        }
        grant.access = Access::write;
        grant.acks = static_cast<std::int32_t>(demand.acks);
        return true;
    }

protected:
    Access alone(Access wanted) const override { return wanted; }

    void begin_read(Home& home, const Request& request) override {
        if (home.owner == Home::none) home.owner = request.from;
        const auto place = std::lower_bound(home.copies.begin(), home.copies.end(), request.from);
        if (place == home.copies.end() || *place != request.from) home.copies.insert(place, request.from);
        if (home.owner == request.from) return grant(request, Access::read, 0);
        demand(home.owner, request, Demand::Kind::copy, 0);
    }

    void begin_write(Home& home, const Request& request) override {
        const bool has_copy = home.owner == Home::none || home.owner == request.from ||
                              std::binary_search(home.copies.begin(), home.copies.end(), request.from);
        // The owner gives the page up with its contents, where they are needed.
        std::uint32_t acks = 0;
        for (const NodeId copy : home.copies)
            if (copy != request.from && (has_copy || copy != home.owner)) ++acks;
        for (const NodeId copy : home.copies)
            if (copy != request.from && (has_copy || copy != home.owner))
                demand(copy, request, Demand::Kind::drop, 0);
        if (has_copy) {
            grant(request, Access::write, acks);
        } else {
            demand(home.owner, request, Demand::Kind::give, acks);
        }
        home.owner = request.from;
        home.copies = {request.from};
    }
};

}  // namespace

std::unique_ptr<Protocol> make_write_invalidate(Pages& pages) {
    return std::make_unique<WriteInvalidate>(pages);
}

}  // namespace heddle::dsm
