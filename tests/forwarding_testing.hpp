// For tests: a program whose nodes send each other messages of given sizes. It notes what came, whether it
// was whole, and in which order.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "runtime/comm/outbox.hpp"
#include "runtime/comm/wire.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/run/execution.hpp"

namespace heddle::runtime::forwarding_testing {

struct Note {
    std::uint64_t number;
    std::uint64_t body_bytes;
};

/// What the nodes of a run have received, by receiver and sender.
struct Received {
    std::mutex mutex{};  ///< natively the nodes' threads add to it
    std::map<std::pair<NodeId, NodeId>, std::vector<std::uint64_t>> numbers;
    bool whole = true;
};

inline std::byte byte_of(NodeId from, std::uint64_t number, std::uint64_t place) {
    return static_cast<std::byte>(from * 31 + number * 7 + place * 13 + place / 251);
}

/// Sends each node a message with a body of each size.
class Sender : public Program {
public:
    Sender(const std::vector<std::uint64_t>& sizes, Received& received)
        : sizes_(sizes), received_(received) {}

    void begin(Worker& worker) override {
        if (worker.id.core != 0) return;
        const NodeId self = worker.id.node;
        for (std::uint64_t number = 0; number < sizes_.size(); ++number) {
            const auto body = std::make_shared<Bytes>(sizes_[number]);
            for (std::uint64_t i = 0; i < body->size(); ++i) (*body)[i] = byte_of(self, number, i);
            for (NodeId to = 0; to < worker.node().topology().nodes; ++to)
                if (to != self) post(worker, to, {number, body->size()}, body);
        }
    }
    void arrived(NodeId self, NodeId from, const Note& note, std::span<const std::byte> content) {
        bool whole = content.size() == note.body_bytes;
        for (std::uint64_t i = 0; whole && i < content.size(); ++i)
            whole = content[i] == byte_of(from, note.number, i);
        const std::lock_guard lock(received_.mutex);
        received_.numbers[{self, from}].push_back(note.number);
        received_.whole = received_.whole && whole;
    }
    Answer answer() const override { return {}; }

private:
    static void post(Worker& worker, NodeId to, const Note& note, Body body);

    const std::vector<std::uint64_t>& sizes_;
    Received& received_;
};

inline const Handler note_handler("forwarding_test.note", Handler::Kind::work,
                                  [](Node& node, NodeId from, auto message) {
                                      Reader reader(message);
                                      const auto note = reader.get<Note>();
                                      const auto small = reader.get_rest();
                                      const Body body = node.take_body();
                                      static_cast<Sender&>(node.program())
                                          .arrived(node.id(), from, note,
                                                   body ? std::span<const std::byte>(*body) : small);
                                  });

inline void Sender::post(Worker& worker, NodeId to, const Note& note, Body body) {
    worker.outbox().post(to, note_handler, bytes_of(note), Enclosure{std::move(body), note.number});
}

inline void expect_all(const Received& received, NodeId nodes, std::uint64_t messages) {
    EXPECT_TRUE(received.whole);
    ASSERT_EQ(received.numbers.size(), std::size_t{nodes} * (nodes - 1));
    for (const auto& [pair, numbers] : received.numbers) {
        ASSERT_EQ(numbers.size(), messages);
        for (std::uint64_t i = 0; i < messages; ++i)
            EXPECT_EQ(numbers[i], i) << pair.first << " " << pair.second;
    }
}

}  // namespace heddle::runtime::forwarding_testing
