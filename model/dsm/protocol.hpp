// The interface of protocols, which make the pages of all nodes one shared memory. A protocol says what a
// fault asks the page's home for, how the home answers, and what happens at a barrier. Pages (pages.hpp) does
// what all protocols share: waiting, deferring and sending.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/dsm/page_table.hpp"
#include "runtime/backend.hpp"

namespace heddle::runtime {
class Caller;
struct Context;
}  // namespace heddle::runtime

namespace heddle::dsm {

class Pages;

/// What was done under a page's lock, where nothing may be charged.
struct Charges {
    std::uint32_t protects = 0;
    std::uint32_t fills = 0;
    std::uint32_t firsts = 0;        ///< pages that may be accessed for the first time
    std::uint64_t diffed_bytes = 0;  ///< copied to a twin, compared with it or patched
};

class Protocol {
public:
    explicit Protocol(Pages& pages) : pages_(pages) {}
    virtual ~Protocol() = default;
    Protocol(const Protocol&) = delete;
    Protocol& operator=(const Protocol&) = delete;

    /// What a fault asks for, if the program wants to do this.
    virtual Access asks_for(Access wanted) const { return wanted; }

    /// Gives access without a message, if it may. `wanted`: as in a Request. Under the page's lock.
    virtual bool grant_here(PageId /*id*/, Page& /*page*/, Access /*access*/, Access /*wanted*/,
                            Charges& /*charges*/) {
        return false;
    }

    // --- handlers
    /// At the home.
    virtual void on_request(const Request& request) = 0;
    /// At the home: the requester has its page.
    virtual void on_done(PageId /*page*/) {}

    /// At a node that has the page, and nothing keeps it there: takes access away and answers with `grant`.
    /// True if the contents are to be sent. Under the page's lock.
    virtual bool give(const Demand& demand, Page& page, Grant& grant, Charges& charges) = 0;

    /// A page has come with that access. Under its lock. False: it came too late, and must be asked for
    /// again.
    virtual bool accept(const Grant& /*grant*/, Page& /*page*/) { return true; }
    /// After that, without the lock.
    virtual void arrived(runtime::Context& /*caller*/, PageId /*page*/) {}

    /// Whatever else the nodes tell each other. Throws MalformedMessage.
    virtual void on_notice(NodeId from, std::span<const std::byte> message);

    // --- barriers: by the strand or task that calls `SharedMemory::barrier`
    virtual void release(const runtime::Caller& /*caller*/) {}
    virtual void acquire(const runtime::Caller& /*caller*/) {}

    /// Goes into requests.
    virtual std::uint32_t epoch() const { return 0; }

protected:
    Pages& pages_;
};

/// The shipped protocols, in the order of their file names. Each is in a file of its own in
/// model/dsm/protocols/.
struct ProtocolKind {
    const char* name;
    const char* summary;
    std::unique_ptr<Protocol> (*make)(Pages& pages);
};
std::span<const ProtocolKind> protocols();

/// Throws Error for a name that is none, with those that are.
std::unique_ptr<Protocol> make_protocol(const std::string& name, Pages& pages);

std::unique_ptr<Protocol> make_write_invalidate(Pages& pages);
std::unique_ptr<Protocol> make_implicit_invalidate(Pages& pages);
std::unique_ptr<Protocol> make_migratory(Pages& pages);
std::unique_ptr<Protocol> make_home_lazy_release(Pages& pages);

}  // namespace heddle::dsm
