// Finds messages that no collective call has received: ranks have made calls that do not fit each other, and
// elements are lost.
#include <fmt/format.h>

#include "base/error.hpp"
#include "model/spmd/collective.hpp"
#include "runtime/comm/endpoints.hpp"
#include "runtime/core/node.hpp"

namespace heddle::spmd {

void Rank::expect_nothing_left() {
    if (const auto left = endpoint_.probe()) refuse_left(rank_, left->tag, left->from);
}

/// All ranks have ended the program and so many split-phase calls. A message that came after the end of its
/// call waits for an endpoint, as one that comes before the begin does.
void Rank::expect_nothing_left_at_end(std::uint64_t split_calls) {
    if (const auto left = endpoint_.probe())
        throw Error(
            fmt::format("rank {} has ended its main program, and a message of call {} of rank {} is left",
                        rank_, left->tag, places_.rank_at(left->from)),
            "all ranks make the same collective calls, with the same roots");
    const auto late =
        node_.state<runtime::Endpoints>().early_among(places_.end_of(0), places_.end_of(split_calls));
    if (late) refuse_left(places_.rank_at({node_.id(), late->number}), late->tag, late->from);
}

void Rank::refuse_left(RankId rank, std::uint64_t call, runtime::Address from) const {
    throw Error(fmt::format("split-phase call {} has ended at rank {}, and a message of rank {} is left",
                            call, rank, places_.rank_at(from)),
                "what a rank gives another one must be what that one takes of it");
}

}  // namespace heddle::spmd
