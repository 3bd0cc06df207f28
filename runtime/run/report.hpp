// The report that each node sends to node 0 when the run is over: counters, its answer, when its last task
// ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "runtime/comm/wire.hpp"
#include "runtime/run/counters.hpp"
#include "runtime/run/member_list.hpp"
#include "runtime/run/program.hpp"
#include "runtime/run/sharing.hpp"

namespace heddle::runtime {

struct NodeReport {
    NodeId node = 0;
    Counters counters;
    Time last_task_end{};
    Answer answer;
    std::map<NodeId, std::uint64_t> stolen_from;  ///< tasks by victim node
    Membership membership;
    Sharing sharing;
    Bytes evidence;  ///< Program::evidence

    void write(Writer& writer) const;
    /// False if the message is malformed.
    bool read(Reader& reader);
};

/// The reports that have come to node 0. Filled by the receiver, read by the last worker when all are there.
class Reports {
public:
    void add(NodeReport report) {
        all_.push_back(std::move(report));
        count_.fetch_add(1, std::memory_order_seq_cst);
    }
    std::uint32_t count() const { return count_.load(std::memory_order_seq_cst); }
    const std::vector<NodeReport>& all() const { return all_; }

    /// The worker that waits for them, plus one; 0 if none waits yet.
    std::atomic<std::uint32_t> waiting{0};

private:
    std::vector<NodeReport> all_;
    std::atomic<std::uint32_t> count_{0};
};

}  // namespace heddle::runtime
