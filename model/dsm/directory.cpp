// Orders the requests for a shared page at its home node: it begins them one after the other.
#include "model/dsm/directory.hpp"

#include <algorithm>
#include <utility>

#include "model/dsm/pages.hpp"
#include "runtime/comm/wire.hpp"

namespace heddle::dsm {

void Home::note_use(NodeId node, Access access, std::uint32_t epoch) {
    if (access == Access::none) return;
    const auto insert = [](std::vector<NodeId>& nodes, NodeId one) {
        const auto place = std::lower_bound(nodes.begin(), nodes.end(), one);
        if (place == nodes.end() || *place != one) nodes.insert(place, one);
    };
    const auto later = static_cast<std::int32_t>(epoch - interval);  // the numbers may wrap around
    if (later < 0) return;
    if (later > 0) {
        interval = epoch;
        users.clear();
        written = shared = false;
    }
    insert(users, node);
    written |= access == Access::write;
    if (users.size() < 2 || !written) return;
    if (!std::exchange(shared, true)) ++shared_intervals;
    for (const NodeId user : users) insert(sharers, user);
}

/// Under the page's lock.
Home& DirectoryProtocol::home_of(PageId id, Page& page) {
    auto& home = page.home;
    if (!home) {
        home = std::make_unique<Home>();
        if (pages_.arrays().begins_at_home(id)) {
            home->owner = pages_.node().id();
            home->copies = {home->owner};
        }
    }
    return *home;
}

// Handlers change a home from the first request to the end of the last one, and a fault of its own node only
// between: `requested` says which, under the page's lock.
bool DirectoryProtocol::grant_here(PageId id, Page& page, Access access, Access wanted, Charges& charges) {
    const NodeId self = pages_.node().id();
    if (pages_.arrays().home(id) != self) return false;
    Home& home = home_of(id, page);
    const auto is_other = [&](NodeId node) { return node != self; };
    if (home.requested || (home.owner != Home::none && is_other(home.owner)) ||
        std::ranges::any_of(home.copies, is_other))
        return false;
    home.note_use(self, wanted, epoch());
    home.owner = self;
    home.copies = {self};
    pages_.set_access(id, page, alone(access), charges);
    return true;
}

void DirectoryProtocol::on_request(const Request& request) {
    Page& page = pages_.at(request.page);
    {
        const runtime::SpinLock::Guard guard(page.lock);
        home_of(request.page, page).requested = true;
    }
    Home& home = *page.home;
    home.note_use(request.from, request.wanted, request.epoch);
    home.queue.push_back(request);
    begin_next(home);
}

void DirectoryProtocol::on_done(PageId id) {
    Page& page = pages_.at(id);
    {
        const runtime::SpinLock::Guard guard(page.lock);
        if (!page.home || !page.home->requested)
            throw runtime::MalformedMessage("no such request is under way");
    }
    Home& home = *page.home;
    if (home.writing) {
        home.writing = false;
    } else {
        --home.reading;
    }
    begin_next(home);
    if (home.writing || home.reading != 0) return;
    const runtime::SpinLock::Guard guard(page.lock);
    home.requested = false;
}

void DirectoryProtocol::begin_next(Home& home) {
    while (!home.queue.empty() && !home.writing) {
        const bool writes = home.queue.front().access == Access::write;
        if (writes && home.reading != 0) return;
        const Request request = home.queue.front();
        home.queue.pop_front();
        if (writes) {
            home.writing = true;
            begin_write(home, request);
        } else {
            ++home.reading;
            begin_read(home, request);
        }
    }
}

void DirectoryProtocol::begin_write(Home& home, const Request& request) {
    if (home.owner == Home::none || home.owner == request.from) {
        grant(request, Access::write, 0);
    } else {
        demand(home.owner, request, Demand::Kind::give, 0);
    }
    home.owner = request.from;
}

void DirectoryProtocol::arrived(runtime::Context& caller, PageId page) {
    pages_.send_done(caller, pages_.arrays().home(page), page);
}

void DirectoryProtocol::grant(const Request& request, Access access, std::uint32_t acks) {
    pages_.send_grant(pages_.node().receiver(), request.from,
                      {request.page, access, false, static_cast<std::int32_t>(acks), request.epoch}, {});
}

void DirectoryProtocol::demand(NodeId of, const Request& request, Demand::Kind kind, std::uint32_t acks) {
    pages_.send_demand(pages_.node().receiver(), of, {request.page, request.from, kind, acks, request.epoch});
}

}  // namespace heddle::dsm
