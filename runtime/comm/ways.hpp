// Counts the messages of a node to each other node, and says whether it may send there. A closed way lets no
// message begin, and says exactly when the last that had begun has left. Used only if nodes join and leave.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/ids.hpp"

namespace heddle::runtime {

/// Invariant: of a way's word, the lowest bits count the active messages that have begun and have not been
/// handed to the backend; a bit says that the way is closed; the rest counts those that were handed over.
/// `begin` adds to the first only while the bit is clear. So once it is set the first only falls, and reaches
/// zero once.
class Ways {
public:
    /// All are closed.
    explicit Ways(NodeId nodes) : words_(nodes) {
        for (auto& word : words_) word.store(closed, std::memory_order_relaxed);
    }

    /// An active message to `to` begins. False: the way is closed.
    bool begin(NodeId to) {
        std::uint64_t word = words_[to].load(std::memory_order_seq_cst);
        do {
            if ((word & closed) != 0) return false;
        } while (!words_[to].compare_exchange_weak(word, word + 1, std::memory_order_seq_cst));
        return true;
    }

    /// So many that had begun have been handed to the backend. True, once: the way is closed, and these were
    /// the last.
    bool end(NodeId to, std::uint64_t messages) {
        const std::uint64_t change = messages * (one_sent - 1);
        const std::uint64_t word = words_[to].fetch_add(change, std::memory_order_seq_cst) + change;
        return (word & (one_sent - 1)) == closed;
    }

    /// From now on no message begins. True: none is under way to the backend. False: `end` will say so.
    bool close(NodeId to) {
        return (words_[to].fetch_or(closed, std::memory_order_seq_cst) & (closed - 1)) == 0;
    }
    void open(NodeId to) { words_[to].fetch_and(~closed, std::memory_order_seq_cst); }

    /// How many were handed to the backend.
    std::uint64_t sent(NodeId to) const { return words_[to].load(std::memory_order_seq_cst) / one_sent; }

private:
    static constexpr std::uint64_t closed = std::uint64_t{1} << 23;
    static constexpr std::uint64_t one_sent = closed << 1;

    std::vector<std::atomic<std::uint64_t>> words_;
};

}  // namespace heddle::runtime
