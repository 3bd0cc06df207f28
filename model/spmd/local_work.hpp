// Copies and combinations of elements in a collective call, which several threads of a node may share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "model/spmd/crew.hpp"
#include "model/spmd/movement.hpp"
#include "model/spmd/request.hpp"
#include "model/spmd/steps.hpp"
#include "runtime/comm/loan.hpp"
#include "runtime/comm/parcel.hpp"
#include "runtime/core/copy.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/strands/strands.hpp"

namespace heddle::spmd {

inline bool overlap(const Range& a, const Range& b) {
    return a.array == b.array && a.begin < b.begin + b.count && b.begin < a.begin + a.count;
}

/// A copy, or a combination, of elements.
struct Local {
    const Request* request;
    std::byte* into;
    const std::byte* from;
    Index count;
    bool combines = false;
    bool other_first = false;
    runtime::Parcel message{};                   ///< that the elements come from, if it is large
    std::shared_ptr<const Movement> movement{};  ///< of an exchange: where the elements go
    const runtime::Loan* lent = nullptr;         ///< that the elements are borrowed of, if they are

    Index bytes() const { return count * request->element_bytes; }

    void part(runtime::Strand& self, std::uint32_t part, std::uint32_t parts) const {
        if (request->declared) return declare(self, part, parts);
        if (movement) return movement->move(self, request->element_bytes, into, from, part, parts);
        const Index begin = border(part, parts);
        const Index here = border(part + 1, parts) - begin;
        if (here == 0) return;
        std::byte* const target = into + begin * request->element_bytes;
        const std::byte* const source = from + begin * request->element_bytes;
        const Index size = here * request->element_bytes;
        const auto copy = runtime::Copy::contiguous(size);
        if (!combines && !lent) return self.worker().copy(copy, target, source);
        const auto code = [&] {
            if (lent) lent->expect_lent();
            if (!combines) return copy.carry_out(target, source);
            request->combine.apply(request->combine.code, target, source, here, other_first);
        };
        self.worker().compute(combines ? combining(here) : copying(self, copy), std::ref(code));
    }

private:
    Index border(std::uint32_t part, std::uint32_t parts) const {
        return count / parts * part + std::min<Index>(part, count % parts);
    }
    /// Reads both, and writes one.
    runtime::Work combining(Index elements) const {
        return {static_cast<double>(elements), 3.0 * static_cast<double>(elements * request->element_bytes)};
    }
    /// What Worker::copy declares.
    static runtime::Work copying(runtime::Strand& self, const runtime::Copy& copy) {
        return {0, copy.bytes_moved(self.worker().node().topology().cache)};
    }
    /// Takes the same time in simulation, and natively none.
    void declare(runtime::Strand& self, std::uint32_t part, std::uint32_t parts) const {
        if (movement) return movement->move(self, request->element_bytes, nullptr, nullptr, part, parts);
        const Index here = border(part + 1, parts) - border(part, parts);
        if (here == 0) return;
        if (combines) return self.worker().compute(combining(here), {});
        self.worker().copy(runtime::Copy::contiguous(here * request->element_bytes));
    }
};

/// The same by several threads. `to` and `read`: what it writes and reads of the rank's arrays.
class LocalJob final : public Job {
public:
    explicit LocalJob(Local local, const Range& to = {}, const Range& read = {})
        : local_(std::move(local)), to_(to), read_(read) {}

    void part(runtime::Strand& self, std::uint32_t part, std::uint32_t parts) override {
        local_.part(self, part, parts);
    }
    bool hinders(const Step& step) const {
        return overlap(step.to, to_) || overlap(step.to, read_) || overlap(step.from, to_);
    }

private:
    Local local_;
    Range to_;
    Range read_;
};

}  // namespace heddle::spmd
