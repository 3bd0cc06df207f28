// Tests what connects processes of one machine. Shared memory, Unix sockets and TCP carry messages of all
// sizes between three nodes. If the first does not work for a pair, the pair uses the next. Rings alone:
// native_ring_test.cpp; processes that are killed: lost_process_test.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/native/link.hpp"
#include "runtime/native/local_meeting.hpp"
#include "runtime/native/shared_stream.hpp"
#include "runtime/native/unix_socket.hpp"
#include "tests/conformance.hpp"
#include "tests/native_testing.hpp"

namespace heddle::native {

namespace {

using conformance::Node;
using conformance::pack;
using conformance::pattern;
using conformance::Script;
using conformance::ScriptedNode;
using conformance::unpack;
using runtime::Context;
using testing::HasSubstr;

struct Way {
    Local local;
    bool single;
};

std::string name_of_way(const testing::TestParamInfo<Way>& way) {
    const char* const names[] = {"memory", "unix", "tcp"};
    return std::string(names[static_cast<std::size_t>(way.param.local)]) +
           (way.param.single ? "_single" : "_separate");
}

class NativeLocal : public testing::TestWithParam<Way> {
protected:
    static void run(NodeId nodes, const Script& script) {
        std::vector<std::unique_ptr<ScriptedNode>> programs;
        for (NodeId node = 0; node < nodes; ++node)
            programs.push_back(std::make_unique<ScriptedNode>(node, 1, script));
        conformance::run_native(nodes, 1,
                                [&](NodeId node) -> runtime::NodeProgram& { return *programs[node]; },
                                {.local = GetParam().local, .single_module = GetParam().single});
    }
};

/// Descriptors of this process whose target begins so.
std::ptrdiff_t descriptors(const std::string& begin) {
    std::ptrdiff_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        count += std::filesystem::read_symlink(entry.path(), gone).string().starts_with(begin) ? 1 : 0;
    }
    return count;
}

/// How often this process has mapped memory for rings.
int mapped_rings() {
    std::ifstream maps("/proc/self/maps");
    int count = 0;
    for (std::string line; std::getline(maps, line);)
        count += line.find("memfd:heddle-rings") != std::string::npos ? 1 : 0;
    return count;
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Ways, NativeLocal,
                         testing::Values(Way{Local::shared_memory, false}, Way{Local::shared_memory, true},
                                         Way{Local::unix_socket, false}, Way{Local::unix_socket, true},
                                         Way{Local::tcp, false}, Way{Local::tcp, true}),
                         name_of_way);

// Every node sends every size to every other one, as messages and as bodies, all at once: what comes must be
// whole and in order.
TEST_P(NativeLocal, MessagesOfAllSizesBetweenThreeNodes) {
    const std::vector<std::size_t> sizes{0, 1, 8, 8191, 8192, 65536, 100'000, 1U << 20, 64U << 20};
    constexpr NodeId nodes = 3;
    std::vector<runtime::Body> bodies;
    for (const std::size_t size : sizes)
        bodies.push_back(std::make_shared<runtime::Bytes>(pattern(size, size)));
    struct Seen {
        runtime::Body body;
        std::map<NodeId, std::size_t> next;
    };
    std::array<Seen, nodes> seen;
    std::atomic<int> came{0};
    Script script;
    script.work = [&](Node& node, Context& worker) {
        for (const runtime::Body& body : bodies) {
            for (NodeId to = 0; to < nodes; ++to) {
                if (to == node.id) continue;
                worker.backend->send(worker, to, *body);
                worker.backend->send(worker, to, pack(node.id), {body});
            }
        }
    };
    script.receive_body = [&](Node& node, runtime::Body body) { seen[node.id].body = std::move(body); };
    script.deliver = [&](Node& node, NodeId from, std::span<const std::byte> message) {
        Seen& here = seen[node.id];
        const std::size_t number = here.next[from]++;
        const auto body = std::exchange(here.body, nullptr);
        const std::span<const std::byte> expected(*bodies.at(number / 2));
        ASSERT_EQ(body != nullptr, number % 2 == 1);
        const std::span<const std::byte> content = body ? std::span<const std::byte>(*body) : message;
        EXPECT_TRUE(content.size() == expected.size() &&
                    (content.empty() || std::memcmp(content.data(), expected.data(), content.size()) == 0))
            << "message " << number << " from node " << from;
        if (body) {
            EXPECT_EQ(unpack<NodeId>(message), from);
        }
        ++came;
    };
    run(nodes, script);
    EXPECT_EQ(came, static_cast<int>(nodes * (nodes - 1) * 2 * sizes.size()));
}

TEST_P(NativeLocal, ItIsWhatWasAskedForAndNothingIsLeft) {
    const auto sockets_before = descriptors("socket:");
    std::atomic<int> rings{0};
    Script script;
    script.work = [&](Node& node, Context&) {
        if (node.id == 0) rings = mapped_rings();
    };
    run(3, script);
    // Three pairs, and in this process both sides of each.
    EXPECT_EQ(rings, GetParam().local == Local::shared_memory ? 6 : 0);
    EXPECT_EQ(mapped_rings(), 0);
    EXPECT_EQ(descriptors("/memfd:heddle-rings"), 0);
    EXPECT_EQ(descriptors("socket:"), sockets_before);
}

// Both sides send as fast as they can, so that rings are full in both directions.
TEST_P(NativeLocal, BothSidesAtFullSpeed) {
    constexpr int count = 60;
    const auto body = std::make_shared<runtime::Bytes>(pattern(1 << 20, 5));
    std::atomic<int> came{0}, wrong{0};
    Script script;
    script.work = [&](Node& node, Context& worker) {
        for (int i = 0; i < count; ++i) worker.backend->send(worker, 1 - node.id, pack(i), {body});
    };
    script.receive_body = [&](Node&, const runtime::Body& other) { wrong += *other == *body ? 0 : 1; };
    script.deliver = [&](Node&, NodeId, auto) { ++came; };
    run(2, script);
    EXPECT_EQ(came, 2 * count);
    EXPECT_EQ(wrong, 0);
}

// AES-GCM ends at 64 GiB. The memory is only mapped, and never read.
TEST(NativeLimitOfEncryption, IsToldToTheSenderOfALargerMessage) {
    constexpr std::size_t bytes = std::size_t{1} << 36;
    void* const mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    std::string failure;
    Script script;
    script.work = [&](Node& node, Context& worker) {
        if (node.id != 0) return;
        const auto body =
            runtime::SentBody::lent({static_cast<const std::byte*>(mapped), bytes}, std::make_shared<char>());
        failure = error_of([&] { worker.backend->send(worker, 1, pack(1), {body}); });
    };
    std::array<std::unique_ptr<ScriptedNode>, 2> programs;
    conformance::run_native(2, 1,
                            [&](NodeId node) -> runtime::NodeProgram& {
                                programs[node] = std::make_unique<ScriptedNode>(node, 1, script);
                                return *programs[node];
                            },
                            {.protection = Protection::encryption, .local = Local::tcp});
    munmap(mapped, bytes);
    EXPECT_THAT(failure, HasSubstr("larger than the 68719476704 that may travel at once"));
}

// --- how two processes agree
// --------------------------------------------------------------------------------------------

namespace {

class NativeOffer : public testing::Test {
protected:
    NativeOffer() {
        std::tie(left_, right_) = connected_pair();
        maker_.peer.rank = 1;
        opener_.peer.rank = 0;
        maker_.send_key = opener_.receive_key = {1};
        maker_.receive_key = opener_.send_key = {2};
    }

    /// What both sides have agreed on.
    std::pair<LocalStream, LocalStream> agree(std::size_t ring_bytes) {
        LocalPeer peer = offer_memory(std::move(left_), maker_, ring_bytes);
        LocalStream taken = take_offer({std::move(right_), opener_}, soon());
        return {conclude_offer(std::move(peer), soon()), std::move(taken)};
    }

    Descriptor left_, right_;
    Session maker_, opener_;
};

void exchange(Stream& from, Stream& to, std::size_t size) {
    const runtime::Bytes sent = pattern(size, 3);
    runtime::Bytes came(size);
    std::size_t written = 0, read = 0;
    while (read < size) {
        const iovec rest{const_cast<std::byte*>(sent.data()) + written, size - written};
        if (written < size) written += static_cast<std::size_t>(from.write(std::span(&rest, 1)));
        const iovec room{came.data() + read, size - read};
        read += static_cast<std::size_t>(to.read(std::span(&room, 1)));
    }
    EXPECT_EQ(came, sent);
}

}  // namespace

TEST_F(NativeOffer, BothSidesShareTheMemoryThatOneHasMade) {
    const auto [made, taken] = agree(64 << 10);
    EXPECT_TRUE(made.stream->in_memory());
    EXPECT_TRUE(taken.stream->in_memory());
    EXPECT_EQ(made.word + taken.word, "");
    exchange(*made.stream, *taken.stream, 1'000'000);
    exchange(*taken.stream, *made.stream, 1'000'000);
}

TEST_F(NativeOffer, WithoutMemoryTheSocketCarriesTheBytes) {
    const auto [made, taken] = agree(0);
    EXPECT_FALSE(made.stream->in_memory());
    EXPECT_FALSE(taken.stream->in_memory());
    EXPECT_EQ(made.word + taken.word, "");
    exchange(*made.stream, *taken.stream, 100'000);
}

TEST(NativeRings, AreSmallerTheMoreProcessesThereAreAndMissingIfThereAreTooMany) {
    EXPECT_EQ(ring_bytes_for(2), 1U << 20);
    EXPECT_EQ(ring_bytes_for(64), 128U << 10);
    EXPECT_EQ(ring_bytes_for(sharing_max), 64U << 10);
    EXPECT_EQ(ring_bytes_for(sharing_max + 1), 0U);
}

TEST_F(NativeOffer, MemoryThatCannotBeMadeIsSaidToBothSides) {
    rlimit before{};
    getrlimit(RLIMIT_AS, &before);
    // Enough for all but the rings, which have 256 MiB each.
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit little{pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + (64U << 20),
                        before.rlim_max};
    setrlimit(RLIMIT_AS, &little);
    LocalPeer peer = offer_memory(std::move(left_), maker_, 1 << 28);
    setrlimit(RLIMIT_AS, &before);
    EXPECT_FALSE(peer.memory);
    const LocalStream taken = take_offer({std::move(right_), opener_}, soon());
    const LocalStream made = conclude_offer(std::move(peer), soon());
    EXPECT_THAT(taken.word, HasSubstr("cannot map shared memory"));
    EXPECT_THAT(made.word, HasSubstr("cannot map shared memory"));
    exchange(*made.stream, *taken.stream, 100'000);
}

TEST_F(NativeOffer, MemoryThatIsNotTheOfferedOneIsNotUsed) {
    const SharedMemory offered = SharedMemory::make(64 << 10);
    const SharedMemory other = SharedMemory::make(64 << 10);
    const auto open = [&](const Descriptor& file, std::size_t ring_bytes) {
        return error_of(
            [&] { (void)SharedMemory::open(Descriptor(dup(file.get())), ring_bytes, offered.token()); });
    };
    EXPECT_EQ(open(offered.file(), 64 << 10), "");
    EXPECT_THAT(open(other.file(), 64 << 10), HasSubstr("not the one that was offered"));
    EXPECT_THAT(open(offered.file(), 128 << 10), HasSubstr("not what was offered"));
    EXPECT_THAT(open(offered.file(), 5), HasSubstr("not what was offered"));
    EXPECT_THAT(open(Descriptor(), 64 << 10), HasSubstr("cannot open shared memory"));
    // Its owner could make it smaller, which would end this process when it reads.
    const Descriptor unsealed(memfd_create("heddle-rings", MFD_CLOEXEC));
    ASSERT_EQ(ftruncate(unsealed.get(), 4096 + (128 << 10)), 0);
    EXPECT_THAT(open(unsealed, 64 << 10), HasSubstr("not what was offered"));
}

TEST_F(NativeOffer, MemoryWhoseDescriptorFindsNoRoomIsSaidToBothSides) {
    LocalPeer peer = offer_memory(std::move(left_), maker_, 64 << 10);
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit none{3, before.rlim_max};  // the standard streams have these
    setrlimit(RLIMIT_NOFILE, &none);
    const LocalStream taken = take_offer({std::move(right_), opener_}, soon());
    setrlimit(RLIMIT_NOFILE, &before);
    const LocalStream made = conclude_offer(std::move(peer), soon());
    EXPECT_EQ(taken.word, "its descriptor did not come");
    EXPECT_EQ(made.word, taken.word);
    exchange(*made.stream, *taken.stream, 100'000);
}

TEST_F(NativeOffer, APeerThatIsGoneIsAnError) {
    LocalPeer peer = offer_memory(std::move(left_), maker_, 64 << 10);
    right_.reset();
    EXPECT_THAT(error_of([&] { conclude_offer(std::move(peer), soon()); }),
                HasSubstr("node 1 on this machine"));
    auto [left, right] = connected_pair();
    left.reset();
    EXPECT_THAT(error_of([&] {
                    take_offer({std::move(right), opener_}, soon());
                }),
                HasSubstr("node 0 on this machine: connection closed"));
}

TEST_F(NativeOffer, ANameWithoutAListenerGivesNoConnection) {
    const std::string name = local_name(7, 0, "127.0.0.1:1", 42);
    EXPECT_FALSE(connect_to_name(name, soon()));
    const Descriptor listener = listen_at_name(name);
    EXPECT_TRUE(connect_to_name(name, soon()));
    EXPECT_THAT(error_of([&] { (void)listen_at_name(name); }), HasSubstr("Address already in use"));
}

// --- what a peer may do to a link
// ---------------------------------------------------------------------------------------

namespace {

class NativeSharedLink : public NativeOffer {
protected:
    NativeSharedLink() {
        auto [made, taken] = agree(64 << 10);
        attacker_ = std::move(made.stream);
        link_ = std::make_unique<Link>(std::move(taken.stream), opener_, 1 << 20, Protection::local);
    }

    void write(std::span<const std::byte> bytes) {
        const iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
        EXPECT_EQ(attacker_->write(std::span(&part, 1)), static_cast<std::ptrdiff_t>(bytes.size()));
    }
    std::string receive() {
        return link_->receive([&](FrameKind, auto, const runtime::Body&) { ++received_; });
    }

    std::unique_ptr<Stream> attacker_;
    std::unique_ptr<Link> link_;
    int received_ = 0;
};

/// How many bytes went through `stream`, of `bytes` at most.
std::size_t written(Stream& stream, std::size_t bytes) {
    std::vector<std::byte> data(bytes);
    const iovec part{data.data(), data.size()};
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(stream.write(std::span(&part, 1)), 0));
}
std::size_t taken(Stream& stream, std::size_t bytes) {
    std::vector<std::byte> room(bytes);
    const iovec part{room.data(), room.size()};
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(stream.read(std::span(&part, 1)), 0));
}

}  // namespace

// A writer asks for room again and again, and reads meanwhile, but never without finding bytes. So the bells
// that tell of room gather in the socket.
TEST_F(NativeOffer, BellsThatTellOfRoomKeepNoOtherFromRinging) {
    constexpr std::size_t ring = 64 << 10;
    auto [made, opened] = agree(ring);
    Stream& peer = *made.stream;
    Stream& own = *opened.stream;
    const Descriptor set(epoll_create1(EPOLL_CLOEXEC));
    epoll_event event{EPOLLIN | EPOLLET, {}};
    ASSERT_EQ(epoll_ctl(set.get(), EPOLL_CTL_ADD, own.descriptor(), &event), 0);
    for (int i = 0; i < 500; ++i) {
        while (written(own, ring) > 0) continue;
        ASSERT_FALSE(own.ask_for_room());
        while (taken(peer, ring) > 0) continue;
        ASSERT_EQ(written(peer, 8), 8U);
        ASSERT_EQ(taken(own, 8), 8U);
    }
    ASSERT_TRUE(own.ask_for_bytes());
    epoll_wait(set.get(), &event, 1, 0);
    ASSERT_EQ(written(peer, 8), 8U);
    EXPECT_EQ(epoll_wait(set.get(), &event, 1, 5000), 1);
}

TEST_F(NativeSharedLink, GarbageIsACorruptFrame) {
    write(pattern(1000, 4));
    EXPECT_EQ(receive(), "it sent a corrupt frame");
    EXPECT_EQ(received_, 0);
}

TEST_F(NativeSharedLink, WhatWasWrittenBeforeTheEndIsReadAndThenTheEnd) {
    Link peer(std::move(attacker_), maker_, 1 << 20, Protection::local);
    peer.post(FrameKind::message, runtime::Bytes(8), {});
    peer.give_up("it ends");
    EXPECT_EQ(receive(), "");
    EXPECT_EQ(received_, 1);
    EXPECT_EQ(receive(), "connection closed");
}

TEST_F(NativeSharedLink, AWriterNoticesThatItsPeerHasEnded) {
    Link peer(std::move(attacker_), maker_, 1 << 20, Protection::local);
    link_.reset();
    peer.post(FrameKind::message, runtime::Bytes(1 << 20), {});
    EXPECT_EQ(peer.flush(), Link::Flushed::broken);
}

}  // namespace heddle::native
