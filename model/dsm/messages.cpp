// The messages by which the nodes of a shared memory move pages, and their handlers.
#include "runtime/comm/wire.hpp"

#include <fmt/format.h>

#include <utility>

#include "model/dsm/pages.hpp"

namespace heddle::dsm {

namespace {

using runtime::bytes_of;
using runtime::Handler;
using runtime::MalformedMessage;
using runtime::Node;
using runtime::value_in;

Pages& pages_of(Node& node) {
    return node.state<SharedMemory>().pages();
}

void expect_page(const Pages& pages, PageId page) {
    if (page < pages.arrays().pages()) return;
    throw MalformedMessage(
        fmt::format("it names page {} of a shared memory of {} pages", page, pages.arrays().pages()));
}

void expect_node(const Pages& pages, NodeId node) {
    if (node >= pages.node().topology().nodes) throw MalformedMessage("it names a node that is none");
}

void expect_home(const Pages& pages, PageId page) {
    expect_page(pages, page);
    if (pages.arrays().home(page) != pages.node().id())
        throw MalformedMessage(fmt::format("this node is not the home of page {}", page));
}

bool is_access(Access access) {
    return access <= Access::write;
}

bool permits_something(Access access) {
    return is_access(access) && access != Access::none;
}

/// Of nodes that acknowledge. A requester never waits for all nodes, because it is one.
void expect_acks(const Pages& pages, std::int64_t acks, std::int64_t least) {
    if (acks < least || acks >= pages.node().topology().nodes)
        throw MalformedMessage(fmt::format("it counts {} acknowledgements", acks));
}

/// With access it brings the page, or permits what is here; without, it is one acknowledgement.
void expect_grant(const Pages& pages, const Grant& grant, std::size_t bytes) {
    expect_page(pages, grant.page);
    if (!is_access(grant.access) || grant.has_contents > 1 ||
        (grant.access == Access::none && (grant.acks != -1 || grant.has_contents != 0)))
        throw MalformedMessage("it is no grant of a page");
    if (grant.access != Access::none) expect_acks(pages, grant.acks, 0);
    if (bytes != (grant.has_contents != 0 ? pages.page_bytes() : 0))
        throw MalformedMessage(
            fmt::format("it has {} bytes of page {}, which has {}", bytes, grant.page, pages.page_bytes()));
}

const Handler request_handler("dsm.request", Handler::Kind::work, [](Node& node, NodeId from, auto message) {
    Pages& pages = pages_of(node);
    const auto request = value_in<Request>(message);
    expect_home(pages, request.page);
    if (request.from != from || !permits_something(request.access) || !is_access(request.wanted))
        throw MalformedMessage("it is no request for a page");
    pages.protocol().on_request(request);
});

Demand demand_in(const Pages& pages, std::span<const std::byte> message) {
    const auto demand = value_in<Demand>(message);
    expect_page(pages, demand.page);
    expect_node(pages, demand.requester);
    expect_acks(pages, demand.acks, 0);
    if (demand.kind > Demand::Kind::drop) throw MalformedMessage("it is no demand for a page");
    return demand;
}

const Handler demand_handler("dsm.demand", Handler::Kind::work, [](Node& node, NodeId, auto message) {
    Pages& pages = pages_of(node);
    pages.on_demand(demand_in(pages, message));
});

/// The node that should answer was not free: the requester sends the demand once more.
const Handler again_handler("dsm.again", Handler::Kind::work, [](Node& node, NodeId from, auto message) {
    Pages& pages = pages_of(node);
    pages.send_demand(node.receiver(), from, demand_in(pages, message));
});

const Handler grant_handler("dsm.grant", Handler::Kind::work, [](Node& node, NodeId, auto message) {
    Pages& pages = pages_of(node);
    runtime::Reader reader(message);
    const auto grant = reader.get<Grant>();
    auto contents = reader.get_rest();
    reader.check();
    const runtime::Body body = node.take_body();
    if (body) contents = {body->data(), body->size()};
    expect_grant(pages, grant, contents.size());
    pages.on_grant(grant, contents);
});

const Handler done_handler("dsm.done", Handler::Kind::work, [](Node& node, NodeId, auto message) {
    Pages& pages = pages_of(node);
    const auto page = value_in<PageId>(message);
    expect_home(pages, page);
    pages.protocol().on_done(page);
});

const Handler notice_handler("dsm.notice", Handler::Kind::work, [](Node& node, NodeId from, auto message) {
    const runtime::Body body = node.take_body();
    if (body) message = {body->data(), body->size()};
    pages_of(node).protocol().on_notice(from, message);
});

}  // namespace

void Protocol::on_notice(NodeId /*from*/, std::span<const std::byte> /*message*/) {
    throw MalformedMessage("this protocol has no notices");
}

void Pages::send_request(runtime::Context& caller, const Request& request) {
    requests_.fetch_add(1, std::memory_order_relaxed);
    node().outbox_of(caller).post(arrays().home(request.page), request_handler, bytes_of(request));
}

void Pages::send_demand(runtime::Context& caller, NodeId to, const Demand& demand) {
    node().outbox_of(caller).post(to, demand_handler, bytes_of(demand));
}

void Pages::send_again(runtime::Context& caller, const Demand& demand) {
    node().outbox_of(caller).post(demand.requester, again_handler, bytes_of(demand));
}

void Pages::send_grant(runtime::Context& caller, NodeId to, const Grant& grant, runtime::Body contents) {
    runtime::Outbox& outbox = node().outbox_of(caller);
    if (!contents) return outbox.post(to, grant_handler, bytes_of(grant));
    outbox.post(to, grant_handler, bytes_of(grant), runtime::Enclosure{std::move(contents)});
}

void Pages::send_done(runtime::Context& caller, NodeId to, PageId page) {
    node().outbox_of(caller).post(to, done_handler, bytes_of(page));
}

void Pages::send_notice(runtime::Context& caller, NodeId to, runtime::Bytes notice) {
    node().outbox_of(caller).post(to, notice_handler, {},
                                  runtime::Enclosure{std::make_shared<runtime::Bytes>(std::move(notice))});
}

}  // namespace heddle::dsm
