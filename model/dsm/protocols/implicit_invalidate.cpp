// The implicit-invalidate protocol of shared memory. One node writes a page at a time, while other nodes may
// read old copies of it until the next barrier. There each node drops its copies without a message (Freeh,
// Lowenthal, Andrews: "Distributed Filaments: efficient fine-grain parallelism on a cluster of workstations",
// OSDI 1994). A read sees what was written before the last barrier, or a value that is written meanwhile.
#include <vector>

#include "model/dsm/directory.hpp"
#include "model/dsm/pages.hpp"
#include "runtime/core/caller.hpp"

namespace heddle::dsm {

namespace {

/// A node that owns a page writes it; a page that may be read only is a copy.
class ImplicitInvalidate final : public DirectoryProtocol {
public:
    using DirectoryProtocol::DirectoryProtocol;

    bool give(const Demand& demand, Page& page, Grant& grant, Charges& charges) override {
        if (demand.kind == Demand::Kind::copy) {
            grant.access = Access::read;
            return true;
        }
        if (page.access == Access::write) {
            pages_.set_access(demand.page, page, Access::read, charges);
            const runtime::SpinLock::Guard guard(lock_);
            copies_.push_back(demand.page);
        }
        grant.access = Access::write;
        return true;
    }

    bool accept(const Grant& grant, Page& /*page*/) override {
        if (grant.access == Access::write) return true;
        const runtime::SpinLock::Guard guard(lock_);
        // It was copied before the barrier that this node has passed since.
        if (grant.epoch != epoch()) return false;
        copies_.push_back(grant.page);
        return true;
    }

    void acquire(const runtime::Caller& caller) override {
        std::vector<PageId> copies;
        {
            const runtime::SpinLock::Guard guard(lock_);
            copies.swap(copies_);
            epoch_.fetch_add(1, std::memory_order_seq_cst);
        }
        Charges charges;
        for (const PageId id : copies) {
            Page& page = pages_.at(id);
            const runtime::SpinLock::Guard guard(page.lock);
            if (page.access == Access::read) pages_.give_up(id, page, charges);
        }
        pages_.charge(caller.worker(), charges);
    }

protected:
    void begin_read(Home& home, const Request& request) override {
        if (home.owner == Home::none) home.owner = request.from;
        if (home.owner == request.from) return grant(request, Access::write, 0);
        demand(home.owner, request, Demand::Kind::copy, 0);
    }

private:
    runtime::SpinLock lock_;  ///< over both; after a page's
    std::vector<PageId> copies_;
};

}  // namespace

std::unique_ptr<Protocol> make_implicit_invalidate(Pages& pages) {
    return std::make_unique<ImplicitInvalidate>(pages);
}

}  // namespace heddle::dsm
