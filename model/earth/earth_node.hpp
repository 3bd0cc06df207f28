// The state of the execution model EARTH on one node, and the functions by which any program starts EARTH's
// threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/earth/directory.hpp"
#include "model/earth/frame.hpp"
#include "runtime/comm/sync_slot.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/spin_lock.hpp"
#include "runtime/core/states.hpp"
#include "runtime/core/wait.hpp"

namespace heddle::model::earth {

class Em;

/// `node.state<EarthNode>()`.
class EarthNode final : public runtime::State<runtime::Node>, public runtime::Node::MemoryWatch {
public:
    explicit EarthNode(runtime::Node& node) : node_(node) {}
    ~EarthNode() override;
    EarthNode(const EarthNode&) = delete;
    EarthNode& operator=(const EarthNode&) = delete;

    /// Keeps frames that have ended, and makes it an Error to touch them. Costs time and memory. Before the
    /// run.
    void check();
    bool checked() const { return checked_; }

    /// What threads of this node find without a message.
    Directory& directory() { return directory_; }

    /// Memory for the frames of one worker.
    std::shared_ptr<FramePool> make_pool();

    /// Frames that own memory are known here, and freed when the run is over if they were never terminated.
    /// `destroy`: null if only the exclusive fibers are owned.
    void remember(Frame& frame, void (*destroy)(Frame&));
    void forget(Frame& frame);

    /// Threads of this node that no fiber has terminated. Exact if no worker runs.
    std::uint64_t unterminated() const;

    /// Ranks for fibers of a priority: the first enabled of the highest runs first.
    std::uint64_t next_rank(std::uint32_t priority) {
        return (std::uint64_t{~priority} << 32) + enabled_.fetch_add(1, std::memory_order_relaxed);
    }

    bool keeps_node() const override { return unterminated() != 0; }

    void touched(const void* begin, std::size_t bytes) const override;

private:
    runtime::Node& node_;
    bool checked_ = false;
    std::atomic<std::uint32_t> enabled_{0};
    Directory directory_;
    runtime::SpinLock owners_lock_;  ///< over `owners_`
    std::map<Frame*, void (*)(Frame&)> owners_;
    mutable runtime::SpinLock lock_;  ///< over `pools_`
    std::vector<std::shared_ptr<FramePool>> pools_;
};

/// A worker of `node` calls `code` as EARTH's main: it may start threads. `caller`: any context of the node.
void start(runtime::Node& node, runtime::Context& caller, std::function<void(Em)> code);

/// A sync slot that tasks and strands of its node can wait for: done once `signals` signals have come. For
/// none it is done at once.
class AwaitedSlot final : public runtime::SyncSlot, public runtime::Event {
public:
    explicit AwaitedSlot(std::uint32_t signals)
        : SyncSlot(signals, 0, [](runtime::SyncSlot& slot, runtime::Node& node, runtime::Context& caller) {
              static_cast<AwaitedSlot&>(slot).complete(node, caller);
          }) {
        if (signals == 0) set_done();
    }
    std::string what() const override { return "signals of EARTH's threads"; }
};

}  // namespace heddle::model::earth
