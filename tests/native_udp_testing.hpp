// For tests of native nodes by UDP: real sockets behind a network that loses, repeats, reorders and changes
// datagrams.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "tests/conformance.hpp"
#include "tests/lossy_datagrams.hpp"

namespace heddle::native {

using conformance::Node;
using conformance::Script;
using conformance::ScriptedNode;
using runtime::Bytes;
using runtime::Context;

inline NativeOptions by_udp(const Faults& faults, bool single = false) {
    NativeOptions options;
    options.local = Local::tcp;  // as between machines
    options.single_module = single;
    options.udp.emplace();
    options.udp->wrap = [faults](std::unique_ptr<DatagramSocket> socket) -> std::unique_ptr<DatagramSocket> {
        static std::atomic<std::uint64_t> seed{0};
        return std::make_unique<LossyDatagrams>(std::move(socket), ++seed, faults);
    };
    return options;
}

inline void run(NodeId nodes, CoreId cores, const Script& script, const NativeOptions& options) {
    std::vector<std::unique_ptr<ScriptedNode>> programs;
    for (NodeId node = 0; node < nodes; ++node)
        programs.push_back(std::make_unique<ScriptedNode>(node, cores, script));
    conformance::run_native(
        nodes, cores, [&](NodeId node) -> runtime::NodeProgram& { return *programs[node]; }, options);
}

/// Message `number` of a node, which follows from both.
inline Bytes message(NodeId from, std::uint64_t number, std::size_t size) {
    Bytes bytes(size);
    for (std::size_t at = 0; at < size; at += sizeof number) {
        const std::uint64_t word = (number + at + 1) * 0x9e37'79b9'7f4a'7c15 + from;
        std::memcpy(bytes.data() + at, &word, std::min(sizeof word, size - at));
    }
    return bytes;
}

/// Byte by byte it takes longer than the network does.
inline bool same(std::span<const std::byte> one, std::span<const std::byte> other) {
    return one.size() == other.size() && std::memcmp(one.data(), other.data(), one.size()) == 0;
}

/// Each of two nodes sends `count` messages to the other, and checks those that come.
inline void exchange(std::uint64_t count, std::size_t size, bool enclosed, const NativeOptions& options) {
    std::array<std::uint64_t, 2> got{};
    std::array<std::uint64_t, 2> wrong{};
    Script script;
    script.work = [&](Node& node, Context& worker) {
        for (std::uint64_t i = 0; i < count; ++i) {
            if (enclosed) {
                worker.backend->send(worker, 1 - node.id, message(node.id, i, 16),
                                     {std::make_shared<Bytes>(message(node.id, i, size))});
            } else {
                worker.backend->send(worker, 1 - node.id, message(node.id, i, size));
            }
        }
    };
    script.receive_body = [&](Node& node, const runtime::Body& body) {
        if (!same(*body, message(1 - node.id, got[node.id], size))) ++wrong[node.id];
    };
    script.deliver = [&](Node& node, NodeId from, std::span<const std::byte> bytes) {
        const Bytes expected = message(from, got[node.id], enclosed ? 16 : size);
        if (!same(bytes, expected)) ++wrong[node.id];
        ++got[node.id];
    };
    run(2, 1, script, options);
    for (NodeId node = 0; node < 2; ++node) {
        EXPECT_EQ(got[node], count);
        EXPECT_EQ(wrong[node], 0u);
    }
}

}  // namespace heddle::native
