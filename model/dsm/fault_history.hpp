// Finds the pages that one instruction needs together. A load may begin at the end of one page and end in the
// next, and a copy reads one page and writes another. Its faults come one after the other, each page may have
// left when the next one comes, and two nodes that need the same two pages might take them from each other
// forever.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/time.hpp"
#include "runtime/memory_view.hpp"

namespace heddle::runtime {
class Strand;
}

namespace heddle::dsm {

/// A byte for which an instruction faulted.
struct FaultedByte {
    std::size_t offset = 0;
    runtime::Access wanted = runtime::Access::none;
};

/// Of the faults of one worker. Used by its owner only.
class FaultHistory {
public:
    /// Notes a fault at time `now`, of a strand or, if null, of the worker itself. Returns the faults that
    /// came again and again without time for anything in between, if there are at least two, else nothing.
    /// What the fault takes in simulation comes after `now`: however long that is, nothing ran in between.
    std::span<const FaultedByte> begin(const runtime::Strand* strand, FaultedByte fault, Time now) {
        Run& run = runs_[strand];
        // Twice the same: a page that left before the instruction ran. That needs no second page.
        if (now - run.ended > at_once || (!run.faults.empty() && run.faults.back().offset == fault.offset))
            run.faults.clear();
        const auto same = std::ranges::find(run.faults, fault.offset, &FaultedByte::offset);
        if (same == run.faults.end()) {
            if (run.faults.size() == most) run.faults.erase(run.faults.begin());
            run.faults.push_back(fault);
            return {};
        }
        same->wanted = std::max(same->wanted, fault.wanted);
        run.faults.erase(run.faults.begin(), same);
        std::rotate(run.faults.begin(), run.faults.begin() + 1, run.faults.end());
        return run.faults;
    }
    /// The page of the last fault has come, and the instruction runs again.
    void end(const runtime::Strand* strand, Time now) { runs_[strand].ended = now; }

private:
    /// Natively a signal handler returns and is entered again meanwhile.
    static constexpr Time at_once = std::chrono::microseconds(10);
    /// Two operands, each at the end of a page.
    static constexpr std::size_t most = 4;

    struct Run {
        Time ended{};
        std::vector<FaultedByte> faults;
    };
    std::unordered_map<const runtime::Strand*, Run> runs_;
};

}  // namespace heddle::dsm
