// Finds the pages that a strand needs together. A load may begin at the end of one page and end in the next,
// a copy reads one page and writes another, and a loop may use an element of each of several arrays in turn.
// The faults come one after the other, and each page may have left when the next one comes. Two nodes that
// need the same two pages might take them from each other forever, or for every element of a loop.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/time.hpp"
#include "runtime/memory_view.hpp"

namespace heddle::runtime {
class Strand;
}

namespace heddle::dsm {

/// A page that a strand or task has faulted for.
struct FaultedPage {
    std::uint64_t page = 0;
    std::size_t offset = 0;  ///< of the byte, in the memory
    runtime::Access wanted = runtime::Access::none;
};

/// Of the faults of one worker. Used by its owner only.
class FaultHistory {
public:
    /// Notes a fault at time `now`, of a strand or, if null, of the worker itself. Returns the pages that
    /// came and left again and again without time for much in between, if there are at least two, else
    /// nothing. What the fault takes in simulation comes after `now`: however long that is, nothing ran in
    /// between.
    std::vector<FaultedPage> begin(const runtime::Strand* strand, const FaultedPage& fault, Time now) {
        Run& run = runs_[strand];
        if (now - run.ended > at_once) run = {};
        const auto same = std::ranges::find(run.pages, fault.page, &Seen::page);
        if (same == run.pages.end()) {
            if (run.pages.size() == most) run.pages.erase(run.pages.begin());
            run.pages.push_back({fault, ++run.faults, 1});
            return {};
        }
        const Seen before = *same;
        same->offset = fault.offset;
        same->wanted = std::max(before.wanted, fault.wanted);
        // Twice the same: it is written after it was read, or left before the instruction ran. That needs no
        // second page.
        if (same + 1 == run.pages.end()) return {};
        same->number = ++run.faults;
        ++same->times;
        std::rotate(same, same + 1, run.pages.end());
        // An instruction that has not run never will. A loop goes on as it is, until each page came back.
        const bool same_instruction = before.offset == fault.offset;
        const bool in_loop = run.pages.back().times > 2;
        std::vector<FaultedPage> together;
        for (const Seen& each : run.pages)
            if ((same_instruction && each.number > before.number) ||
                (in_loop && each.times > 1 && run.faults - each.number < recent))
                together.push_back(each);
        if (together.size() < 2) together.clear();
        return together;
    }
    /// The page of the last fault has come, and the instruction runs again.
    void end(const runtime::Strand* strand, Time now) { runs_[strand].ended = now; }

private:
    /// Natively a signal handler returns and is entered again meanwhile.
    static constexpr Time at_once = std::chrono::microseconds(10);
    /// Two operands, each at the end of a page; or as many arrays of a loop.
    static constexpr std::size_t most = 4;

    /// Faults, among which a loop uses each of its pages: some of them several times. A page that it has left
    /// behind comes no more.
    static constexpr std::uint64_t recent = 2 * most;

    struct Seen : FaultedPage {
        std::uint64_t number = 0;  ///< of its latest fault
        std::uint64_t times = 0;   ///< that it came after another page
    };
    struct Run {
        Time ended{};
        std::uint64_t faults = 0;
        std::vector<Seen> pages;  ///< the latest last
    };
    std::unordered_map<const runtime::Strand*, Run> runs_;
};

}  // namespace heddle::dsm
