// The home of a page as its directory. It begins requests for a page one after the other, those to read at
// the same time. It begins the next when the requester has the page, so messages may arrive in any order.
#pragma once

#include <atomic>

#include "model/dsm/protocol.hpp"

namespace heddle::dsm {

class DirectoryProtocol : public Protocol {
public:
    using Protocol::Protocol;

    /// At its home, while no other node has the page or wants it.
    bool grant_here(PageId id, Page& page, Access access, Access wanted, Charges& charges) final;
    void on_request(const Request& request) final;
    void on_done(PageId id) final;
    void arrived(runtime::Context& caller, PageId page) final;
    void acquire(const runtime::Caller& /*caller*/) override {
        epoch_.fetch_add(1, std::memory_order_seq_cst);
    }
    std::uint32_t epoch() const final { return epoch_.load(std::memory_order_seq_cst); }

protected:
    /// The home sends what brings the page to its requester. To write, unless a protocol says otherwise: the
    /// owner gives the page up.
    virtual void begin_read(Home& home, const Request& request) = 0;
    virtual void begin_write(Home& home, const Request& request);

    /// What the home's own node gets that wants this of a page which no other node has.
    virtual Access alone(Access /*wanted*/) const { return Access::write; }

    /// The requester has the contents already, or they are zeros: it gets access.
    void grant(const Request& request, Access access, std::uint32_t acks);
    void demand(NodeId of, const Request& request, Demand::Kind kind, std::uint32_t acks);

    std::atomic<std::uint32_t> epoch_{0};  ///< barriers so far

private:
    Home& home_of(PageId id, Page& page);
    void begin_next(Home& home);
};

}  // namespace heddle::dsm
