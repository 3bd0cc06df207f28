// The parts of an adaptive loop (adaptive.hpp, adaptive_find.hpp, adaptive_prefix_sum.hpp). A thread runs
// each part, and an idle worker splits it through the thread's steal function. What a part computes is
// defined by its loop.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/dataflow/kaapi_threads.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/wait.hpp"

namespace heddle::dataflow::detail {

/// Indices [begin, end).
struct Range {
    std::int64_t begin = 0;
    std::int64_t end = 0;

    bool empty() const { return begin >= end; }
    /// How many: up to 2^64 - 1, so differences of indices are computed without a sign.
    std::uint64_t size() const {
        return empty() ? 0 : static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin);
    }
    /// Takes up to `grain` indices from the front; `grain` is positive.
    Range take_front(std::int64_t grain) {
        const std::int64_t middle = at(std::min(size(), static_cast<std::uint64_t>(grain)));
        return {std::exchange(begin, middle), middle};
    }
    /// Takes the back half. Nothing if there are not two pieces of `grain`.
    Range take_back_half(std::int64_t grain) {
        const std::uint64_t half = size() / 2;
        if (half < static_cast<std::uint64_t>(grain)) return {};
        const std::int64_t middle = at(size() - half);
        return {middle, std::exchange(end, middle)};
    }

private:
    std::int64_t at(std::uint64_t offset) const {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(begin) + offset);
    }
};

/// What is left of a part. Its thread takes from the front, thieves the back half.
class Iterations {
public:
    Iterations(Range range, std::int64_t grain) : range_(range), grain_(grain) {}

    Range take_front() {
        const runtime::SpinLock::Guard guard(lock_);
        return range_.take_front(grain_);
    }
    Range take_back_half() {
        const runtime::SpinLock::Guard guard(lock_);
        return range_.take_back_half(grain_);
    }
    /// Leaves nothing from `end` on.
    void end_at(std::int64_t end) {
        const runtime::SpinLock::Guard guard(lock_);
        range_.end = std::min(range_.end, end);
    }

private:
    runtime::SpinLock lock_;
    Range range_;
    std::int64_t grain_;
};

class Parts;

/// One part of a loop.
class Part {
public:
    Part() = default;
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    virtual ~Part() = default;

    /// What its thread does.
    virtual void run(Kaapi& self) = 0;
    /// The steal function: starts another part on `worker`. False if there is too little left.
    virtual bool split(runtime::Worker& worker, KaapiId& thief) = 0;
};

/// All parts of one loop. They are kept until all have ended, because a part may read what another one left.
class Parts {
public:
    /// Starts a thread of `worker` that runs `part`. Called before the run, or while another part runs.
    void start(runtime::Worker& worker, KaapiId& thread, std::unique_ptr<Part> part) {
        auto* const started = new Started{*this, *part};
        {
            const runtime::SpinLock::Guard guard(lock_);
            all_.push_back(std::move(part));
        }
        running_.fetch_add(1, std::memory_order_seq_cst);
        Attributes attributes;
        attributes.set_steal_function(&steal, &started->part);
        create(worker, thread, attributes, &run, started);
    }
    void start(runtime::Worker& worker, std::unique_ptr<Part> part) {
        KaapiId thread;
        start(worker, thread, std::move(part));
    }

    /// Returns when all parts have ended.
    void wait(runtime::Strand& strand) { strand.wait(end_); }

private:
    class End final : public runtime::Event {
    public:
        std::string what() const override { return "the parts of an adaptive loop"; }
    };
    struct Started {
        Parts& parts;
        Part& part;
    };

    static bool steal(Kaapi& /*victim*/, KaapiId& thief, const IdleWorkers& idle, void* part) {
        return static_cast<Part*>(part)->split(idle.worker(), thief);
    }

    static void run(Kaapi& self, void* argument) {
        const Started started = *std::unique_ptr<Started>(static_cast<Started*>(argument));
        started.part.run(self);
        self.close();  // no thief starts another part of this one from here on
        // The loop may be gone afterwards.
        if (started.parts.running_.fetch_sub(1, std::memory_order_seq_cst) == 1)
            started.parts.end_.complete(self.worker().node(), self.worker());
    }

    std::atomic<std::uint32_t> running_{0};
    End end_;
    runtime::SpinLock lock_;  ///< over what follows
    std::vector<std::unique_ptr<Part>> all_;
};

/// code(worker, arguments...) if that is a call, and code(arguments...) if not.
template <class Code, class... Arguments>
decltype(auto) call(runtime::Worker& worker, const Code& code, const Arguments&... arguments) {
    if constexpr (std::is_invocable_v<const Code&, runtime::Worker&, const Arguments&...>) {
        return code(worker, arguments...);
    } else {
        return code(arguments...);
    }
}

}  // namespace heddle::dataflow::detail
