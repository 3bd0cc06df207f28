// Tests that a node refuses messages of the shared memory that no node would send. Some are too short or too
// long, some have pages, nodes or counts that do not exist, some answer no question.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "model/dsm/page_table.hpp"
#include "model/dsm/protocol.hpp"
#include "runtime/comm/outbox.hpp"
#include "runtime/comm/wire.hpp"
#include "tests/dsm_testing.hpp"

namespace heddle::testing_dsm {
namespace {

using dsm::Access;
using dsm::Demand;
using dsm::Grant;
using dsm::Request;
using runtime::Bytes;
using runtime::Writer;

constexpr NodeId nodes = 3;
constexpr std::uint64_t page_count = 4;
constexpr std::size_t page_bytes = 4096;

const runtime::Handler& handler_named(const std::string& name) {
    const auto all = runtime::all_handlers();
    return **std::find_if(all.begin(), all.end(), [&](const auto* of) { return of->name() == name; });
}

/// Node 1 sends node 0 these bytes, or nothing if `handler` is empty, while all nodes use shared memory.
/// Pages 0 and 3 have node 0 as home. What the run fails with; empty if it does not.
std::string failure_after(const std::string& protocol, const std::string& handler, const Bytes& message) {
    runtime::Schedule schedule;
    schedule.memory.protocol = protocol;
    schedule.memory.page_bytes = page_bytes;
    schedule.memory.placement = runtime::SharedPages::Placement::cyclic;
    schedule.memory.trigger = runtime::Trigger::checked;
    const auto main = [&](Strand& self, SharedMemory& memory) {
        const auto array = memory.allocate<std::byte>("array", page_count * page_bytes);
        memory.seal(self);
        if (self.worker().id.node == 1 && !handler.empty())
            self.worker().outbox().post(0, handler_named(handler), message);
        memory.barrier(self);
        memory.touch(self, {writing(array, self.worker().id.node, 1)});
        memory.barrier(self);
        memory.touch(self, {reading(array, 0, array.count)});
        memory.barrier(self);
    };
    try {
        run_mains(inprocess_world(1, false), nodes, 1, schedule, main);
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

template <class... Values>
Bytes bytes_with(const Values&... values) {
    Writer writer;
    (writer.put(values), ...);
    return {writer.bytes().begin(), writer.bytes().end()};
}

struct Malformed {
    const char* handler;
    Bytes message;
    const char* refusal;
};

std::vector<Malformed> malformed() {
    const Request request{0, 1, Access::read, Access::read, 0};
    const Demand demand{0, 1, Demand::Kind::copy, 0, 0};
    const Grant grant{0, Access::read, 0, 0, 0};
    const auto changed = [](auto value, const auto& change) {
        change(value);
        return bytes_with(value);
    };
    return {
        {"dsm.request", {}, "it is too short"},
        {"dsm.request", bytes_with(request, 'x'), "it is too long"},
        {"dsm.request", changed(request, [](auto& r) { r.page = 4; }),
         "page 4 of a shared memory of 4 pages"},
        {"dsm.request", changed(request, [](auto& r) { r.page = ~0ULL; }), "of a shared memory of 4 pages"},
        {"dsm.request", changed(request, [](auto& r) { r.page = 1; }), "not the home of page 1"},
        {"dsm.request", changed(request, [](auto& r) { r.from = 2; }), "it is no request for a page"},
        {"dsm.request", changed(request, [](auto& r) { r.access = Access{9}; }),
         "it is no request for a page"},
        {"dsm.request", changed(request, [](auto& r) { r.access = Access::none; }), "it is no request"},
        {"dsm.request", changed(request, [](auto& r) { r.wanted = Access{9}; }), "it is no request"},
        {"dsm.demand", bytes_with('x'), "it is too short"},
        {"dsm.demand", changed(demand, [](auto& d) { d.page = 4; }), "page 4 of a shared memory of 4 pages"},
        {"dsm.demand", changed(demand, [](auto& d) { d.requester = 3; }), "it names a node that is none"},
        {"dsm.demand", changed(demand, [](auto& d) { d.acks = 3; }), "it counts 3 acknowledgements"},
        {"dsm.demand", changed(demand, [](auto& d) { d.kind = Demand::Kind{7}; }), "it is no demand"},
        {"dsm.again", changed(demand, [](auto& d) { d.requester = ~NodeId{0}; }), "a node that is none"},
        {"dsm.grant", bytes_with(grant.page), "it is too short"},
        {"dsm.grant", bytes_with(grant), "this node has not asked for the page"},
        {"dsm.grant", bytes_with(grant, 'x'), "it has 1 bytes of page 0, which has 4096"},
        {"dsm.grant", changed(grant, [](auto& g) { g.page = 4; }), "page 4 of a shared memory of 4 pages"},
        {"dsm.grant", changed(grant, [](auto& g) { g.access = Access{3}; }), "it is no grant of a page"},
        {"dsm.grant", changed(grant, [](auto& g) { g.access = Access::none; }), "it is no grant of a page"},
        {"dsm.grant", changed(grant, [](auto& g) { g.has_contents = 1; }), "it has 0 bytes of page 0"},
        {"dsm.grant", changed(grant, [](auto& g) { g.has_contents = 2; }), "it is no grant of a page"},
        {"dsm.grant", changed(grant, [](auto& g) { g.acks = 3; }), "it counts 3 acknowledgements"},
        {"dsm.grant", changed(grant, [](auto& g) { g.acks = -1; }), "it counts -1 acknowledgements"},
        {"dsm.done", bytes_with('x'), "it is too short"},
        {"dsm.done", bytes_with(std::uint64_t{4}), "page 4 of a shared memory of 4 pages"},
        {"dsm.done", bytes_with(std::uint64_t{2}), "not the home of page 2"},
    };
}

TEST(DsmMessages, MalformedOnesAreRefusedWithTheHandlerAndTheNode) {
    for (const auto& protocol : dsm::protocols()) {
        EXPECT_EQ(failure_after(protocol.name, "", {}), "") << protocol.name;
        for (const Malformed& of : malformed()) {
            const std::string failure = failure_after(protocol.name, of.handler, of.message);
            EXPECT_NE(failure.find("node 0: the handler " + std::string(of.handler)), std::string::npos)
                << failure;
            EXPECT_NE(failure.find("from node 1"), std::string::npos) << failure;
            EXPECT_NE(failure.find(of.refusal), std::string::npos) << of.refusal << ", and not: " << failure;
        }
    }
}

enum Kind : std::uint8_t { diffs, notices, applied, noticed };

/// What a diff says ahead of bytes that differ, in as many bytes as the largest numbers take.
std::array<std::uint8_t, 10> run_of(std::uint32_t equal, std::uint32_t count) {
    std::array<std::uint8_t, 10> bytes{};
    for (std::size_t i = 0; i < 10; ++i) {
        const std::uint32_t number = i < 5 ? equal : count;
        bytes[i] = static_cast<std::uint8_t>((number >> 7 * (i % 5) & 0x7f) | (i % 5 < 4 ? 0x80 : 0));
    }
    return bytes;
}

TEST(DsmMessages, NoticesOfLazyReleaseThatAreMalformedAreRefused) {
    const std::uint64_t page = 0;
    const Malformed all[] = {
        {"dsm.notice", {}, "it is too short"},
        {"dsm.notice", bytes_with(Kind{7}), "it is no notice of this protocol"},
        {"dsm.notice", bytes_with(diffs, 'x'), "it is too short"},
        {"dsm.notice", bytes_with(diffs, 0U, 'x'), "it is too short"},
        {"dsm.notice", bytes_with(diffs, 0U, std::uint64_t{1}), "whose home is another node"},
        {"dsm.notice", bytes_with(diffs, 0U, std::uint64_t{99}), "whose home is another node"},
        {"dsm.notice", bytes_with(diffs, 0U, page, '\0'), "it is too short"},
        {"dsm.notice", bytes_with(diffs, 0U, page, '\xff'), "it is too short"},
        {"dsm.notice", bytes_with(diffs, 0U, page, run_of(4095, 2), 'x', 'y'),
         "it changes bytes beyond a page"},
        {"dsm.notice", bytes_with(diffs, 0U, page, run_of(~0U, 1), 'x'), "it changes bytes beyond a page"},
        {"dsm.notice", bytes_with(diffs, 0U, page, ~0ULL), "it has a number that is too large"},
        {"dsm.notice", bytes_with(diffs, 0U, page, run_of(0, 9), 'x'), "it is too short"},
        {"dsm.notice", bytes_with(notices), "it is too short"},
        {"dsm.notice", bytes_with(notices, NodeId{3}), "it names a node that is none"},
        {"dsm.notice", bytes_with(notices, NodeId{1}, std::uint64_t{4}), "it names a page that is none"},
        {"dsm.notice", bytes_with(notices, NodeId{1}, 'x'), "it is too short"},
        {"dsm.notice", bytes_with(applied), "it is too short"},
        {"dsm.notice", bytes_with(applied, 3U), "it counts 3 nodes with copies"},
        {"dsm.notice", bytes_with(applied, 0U, 'x'), "it is too long"},
        {"dsm.notice", bytes_with(applied, 0U), "this node waits for no home"},
        {"dsm.notice", bytes_with(noticed), "this node waits for no copies to be dropped"},
        {"dsm.notice", bytes_with(noticed, 'x'), "it is too long"},
    };
    for (const Malformed& of : all) {
        const std::string failure = failure_after("home_lazy_release", of.handler, of.message);
        EXPECT_NE(failure.find("node 0: the handler dsm.notice"), std::string::npos) << failure;
        EXPECT_NE(failure.find(of.refusal), std::string::npos) << of.refusal << ", and not: " << failure;
    }
    EXPECT_NE(
        failure_after("migratory", "dsm.notice", bytes_with(noticed)).find("this protocol has no notices"),
        std::string::npos);
}

/// Whatever bytes come, a run ends, right or with an error.
TEST(DsmMessages, OnesOfRandomBytesEndInErrorsOnly) {
    const Random seeds(1);
    const std::string names[] = {"dsm.request", "dsm.demand", "dsm.again",
                                 "dsm.grant",   "dsm.done",   "dsm.notice"};
    std::size_t refused = 0;
    std::size_t runs = 0;
    for (const auto& protocol : dsm::protocols()) {
        for (const std::string& name : names) {
            for (std::uint64_t seed = 0; seed < 100; ++seed) {
                Random random = seeds.split(seed).split(runs++);
                Bytes message(random.below(40));
                // Mostly small numbers: they may be pages, nodes and kinds.
                for (std::byte& byte : message)
                    byte = static_cast<std::byte>(random.below(8) == 0   ? random.below(256)
                                                  : random.below(4) == 0 ? random.below(4)
                                                                         : 0);
                refused += failure_after(protocol.name, name, message).empty() ? 0 : 1;
            }
        }
    }
    EXPECT_GT(refused, runs / 2);
}

}  // namespace
}  // namespace heddle::testing_dsm
