// Starts collective calls that go on beside their threads: each is a strand of its node with an endpoint of
// its own.
#include "model/spmd/split_call.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "model/spmd/spmd.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/outlast.hpp"
#include "runtime/core/worker.hpp"

namespace heddle::spmd {

using runtime::Strand;

std::string StartedCall::Done::what() const {
    return fmt::format("split-phase {}, call {}", call_.request.name(), call_.number);
}

SplitCalls::Joined SplitCalls::join(NodeId node, std::uint64_t number, const Request& request, Kept kept,
                                    std::uint32_t thread, std::uint32_t threads) {
    const runtime::SpinLock::Guard guard(lock_);
    std::shared_ptr<StartedCall>& place = waiting_[number];
    if (!place) {
        place.reset(new StartedCall{number, request, std::move(kept), thread, threads});
    } else {
        expect_alike(node, place->thread, place->request, thread, request);
    }
    std::shared_ptr<StartedCall> call = place;
    if (--call->missing > 0) return {std::move(call), false};
    waiting_.erase(number);
    return {std::move(call), true};
}

// --- of a thread

SplitCall::~SplitCall() noexcept(false) {
    if (std::uncaught_exceptions() == 0) wait();
    if (call_) runtime::outlast(self_->worker(), [this] { return call_->done.done(); });
}

// NOLINTNEXTLINE(performance-noexcept-move-constructor): a wait may throw
SplitCall& SplitCall::operator=(SplitCall&& other) {
    wait();
    self_ = other.self_;
    call_ = std::move(other.call_);
    return *this;
}

void SplitCall::wait() {
    if (!call_) return;
    self_->strand().wait(call_->done);
    call_.reset();
}

RankId SplitPhase::rank() const {
    return self_.rank();
}

RankId SplitPhase::ranks() const {
    return self_.ranks();
}

const Algorithm* SplitPhase::algorithm_of(Operation operation, std::string_view name) const {
    return self_.algorithm_of(operation, name);
}

SplitCall SplitPhase::run(const Request& request) {
    return self_.start(request, std::move(kept_));
}

SplitCall Spmd::start(const Request& made, Kept kept) {
    Request request = made;
    request.split_phase = true;
    choose_algorithm(request);
    const std::uint64_t number = ++split_calls_;
    SplitCalls own;
    SplitCalls& table = flat() ? own : here_.split_calls;
    auto [call, begins] =
        table.join(node_, number, request, std::move(kept), thread_, flat() ? 1 : here_.threads);
    if (begins) begin(call);
    return {*this, std::move(call)};
}

/// The strand is on no worker in particular, so one that has nothing to do runs it.
void Spmd::begin(const std::shared_ptr<StartedCall>& call) {
    fmt::format_to_n(call->strand_name.data(), call->strand_name.size() - 1,
                     "split-phase {}, call {} of rank {},", call->request.name(), call->number, rank());
    const RankPlaces places{here_.ranks_per_node(), call->number};
    const auto body = [&here = here_, call, places, rank = rank(), ranks = ranks()](Strand& self) {
        {
            Rank leader(self.worker().node(), rank, ranks, places, here.levels);
            Crew alone(1);
            leader.run(self, call->request, alone, here.options.crew);
            leader.expect_nothing_left();
        }
        call->done.complete(self.worker().node(), self.worker());
    };
    Strand::start(worker(), body, {call->strand_name.data()});
}

}  // namespace heddle::spmd
