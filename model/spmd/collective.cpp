// Executes the steps of a collective call: sends and receives messages, while the threads of the node copy
// and combine.
#include "model/spmd/collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <list>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "model/spmd/leaving.hpp"
#include "model/spmd/local_work.hpp"
#include "runtime/comm/loan.hpp"
#include "runtime/comm/wire.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/states.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/run/report.hpp"

namespace heddle::spmd {

namespace {

using runtime::Strand;
using runtime::Worker;
using Sharing = runtime::Endpoint::Sharing;

/// What a node reports of its collective calls.
struct Sent final : runtime::State<runtime::Node> {
    explicit Sent(runtime::Node& /*node*/) {}
    void report(runtime::NodeReport& report) const override {
        const auto add = [&](const char* name, const std::atomic<std::uint64_t>& value) {
            report.answer.push_back({name, static_cast<double>(value.load(std::memory_order_relaxed))});
        };
        add("collective_messages", messages);
        add("collective_bytes", bytes);
    }

    std::atomic<std::uint64_t> messages{0};
    std::atomic<std::uint64_t> bytes{0};  ///< of their payload
};

void say_steps(const Request& request, const Call& call, Steps& steps) {
    if (request.exchange) return request.exchange->steps(call, steps);
    request.algorithm->steps(call, steps);
}

}  // namespace

// --- one thread's execution of a call

/// Takes all steps, or with several communicators the share of one of them.
class Rank::Execution final : public Steps {
public:
    struct Share {
        std::uint32_t communicator = 0;
        std::uint32_t communicators = 1;
        bool communicates = true;
        bool copies = true;
    };

    Execution(Rank& rank, Strand& self, const Request& request, Crew* crew, const CrewSettings& settings,
              Share share)
        : rank_(rank),
          self_(self),
          request_(request),
          crew_(crew),
          settings_(settings),
          share_(share),
          signature_(signature_of(request, rank.calls_)) {}

    ~Execution() override {
        for (const Lent& each : lent_) each.loan->take_back(self_.worker());
        for (const LocalJob& each : pending_) Crew::outlast(self_, each);
    }
    Execution(const Execution&) = delete;
    Execution& operator=(const Execution&) = delete;

    void reserve(Index elements) override {
        const Index bytes = elements * request_.element_bytes;
        if (bytes <= rank_.scratch_.size || request_.declared) return;
        while (!pending_.empty()) finish_first();  // they may read the scratch
        for (const Lent& each : lent_) take_back(each);
        lent_.clear();
        rank_.scratch_ = {std::make_unique_for_overwrite<std::byte[]>(bytes), bytes};
    }

    /// After the last step.
    void finish() {
        while (!pending_.empty()) finish_first();
        leaving_->wait(self_);
        lent_.clear();
    }

private:
    /// Elements that a send reads.
    struct Lent {
        Range range;
        std::shared_ptr<runtime::Loan> loan;
        std::shared_ptr<Leaving> leaving;
    };

    void take(const Step& step) override {
        switch (step.kind) {
            case Step::Kind::send:
                if (share_.communicates && sends_++ % share_.communicators == share_.communicator) send(step);
                break;
            case Step::Kind::receive:
            case Step::Kind::combine:
                if (share_.communicates && receives_++ % share_.communicators == share_.communicator)
                    receive(step);
                break;
            case Step::Kind::copy:
            case Step::Kind::fold: {
                if (!share_.copies) break;
                if (request_.exchange) {
                    do_locally(step,
                               moved(request_.exchange->own(rank_.rank_), request_.output, request_.input));
                    break;
                }
                if (is_there(step)) break;
                const bool folds = step.kind == Step::Kind::fold;
                do_locally(step,
                           {&request_, at(step.to), at(step.from), step.to.count, folds, step.other_first});
                break;
            }
        }
    }

    /// The elements are where the step would put them.
    static bool is_there(const Step& step) {
        return step.to.array == step.from.array && step.to.begin == step.from.begin;
    }
    /// Null for data that are only declared.
    std::byte* at(const Range& range) const {
        if (request_.declared) return nullptr;
        const Index offset = range.begin * request_.element_bytes;
        switch (range.array) {
            case spmd::Array::input:  // which no step writes
                return const_cast<std::byte*>(request_.input) + offset;
            case spmd::Array::output:
                return request_.output + offset;
            case spmd::Array::scratch:
                break;
        }
        return rank_.scratch_.bytes.get() + offset;
    }

    Local moved(Movement movement, std::byte* into, const std::byte* from) const {
        const Index count = movement.count();
        return {.request = &request_,
                .into = into,
                .from = from,
                .count = count,
                .movement = std::make_shared<const Movement>(std::move(movement))};
    }
    void pack(const Step& step, std::byte* message) {
        if (!request_.exchange) return do_now({&request_, message, at(step.from), step.from.count});
        do_now(moved(request_.exchange->packing(rank_.rank_, step.peer), message, request_.input));
    }
    void send(const Step& step);
    void send_large(const Step& step, runtime::Address to, Sharing sharing);
    void fill(const Step& step, bool with_signature);
    void take_back(const Lent& lent);
    void let_leave();
    void receive(const Step& step);
    /// Where a large message goes: to its elements, or into a buffer, to be unpacked or combined.
    struct Landing {
        bool in_place = false;
        runtime::Body buffer{};
    };
    std::span<std::byte> place_of(const Step& step, std::span<const std::byte> head, Index bytes,
                                  Landing& landing);
    void expect(const Step& step, std::span<const std::byte> signature, Index bytes);
    void do_locally(const Step& step, Local local);
    void do_borrowed(const Step& step, Local local, runtime::LargeIncoming& message);
    void do_now(const Local& local);
    void settle(const Step& step);
    void finish_first();
    /// A send is to read some of them. To write there one must take them back: copy them, or wait.
    bool is_lent(const Range& range) const {
        return std::ranges::any_of(
            lent_, [&](const Lent& each) { return each.leaving->under_way() && overlap(each.range, range); });
    }
    /// Large messages of adjacent elements.
    bool lends() const { return settings_.in_place && !request_.exchange; }
    std::uint32_t copiers() const {
        return crew_ ? std::clamp<std::uint32_t>(settings_.copiers, 1, crew_->threads()) : 1;
    }

    Rank& rank_;
    Strand& self_;
    const Request& request_;
    Crew* crew_;
    const CrewSettings& settings_;
    Share share_;
    Signature signature_;
    std::uint64_t sends_ = 0;
    std::uint64_t receives_ = 0;
    std::shared_ptr<Leaving> leaving_ = std::make_shared<Leaving>();
    runtime::Body sent_;  ///< the latest that was packed, if no step has written since
    Range sent_range_{};
    bool sent_signature_ = false;  ///< it begins with the signature
    std::vector<Lent> lent_;
    std::list<LocalJob> pending_;  ///< copies under way
};

/// So that the next send does not share its bandwidth with one that has not left. Receives do not wait for
/// sends, so ranks that send to each other do not wait for each other.
void Rank::Execution::let_leave() {
    if (!leaving_->under_way()) return;
    leaving_->wait(self_);
    leaving_ = std::make_shared<Leaving>();
}

void Rank::Execution::send(const Step& step) {
    settle(step);
    const bool in_turn = settings_.sends == CrewSettings::Sends::in_turn;
    if (in_turn) let_leave();
    const Index bytes = step.from.count * request_.element_bytes;
    Sent& counts = self_.worker().node().state<Sent>();
    counts.messages.fetch_add(1, std::memory_order_relaxed);
    counts.bytes.fetch_add(bytes, std::memory_order_relaxed);
    const runtime::Address to = rank_.places_.address(step.peer);
    const Sharing sharing = in_turn ? Sharing::in_turn : Sharing::together;
    const bool far = to.node != self_.worker().id.node;
    if ((far || lends()) && bytes + sizeof(Signature) > runtime::Endpoint::eager_max)
        return send_large(step, to, sharing);
    fill(step, true);
    leaving_->begin();
    rank_.endpoint_.start_send(
        self_.worker(), to, signature_.number, runtime::Parcel(sent_, request_.declared ? bytes : 0),
        [leaving = leaving_](Worker& worker) { leaving->end(worker); }, sharing);
}

/// The signature goes ahead.
void Rank::Execution::send_large(const Step& step, runtime::Address to, Sharing sharing) {
    const Index bytes = step.from.count * request_.element_bytes;
    runtime::LargeMessage message{.head = std::as_bytes(std::span(&signature_, 1))};
    std::shared_ptr<Leaving> lent;
    if (lends()) {
        const std::span<const std::byte> elements(at(step.from), request_.declared ? 0 : bytes);
        message.lent = std::make_shared<runtime::Loan>(self_.worker().node(), elements);
        lent = std::make_shared<Leaving>();
        lent->begin();
        std::erase_if(lent_, [](const Lent& each) { return !each.leaving->under_way(); });
        lent_.push_back({step.from, message.lent, lent});
    } else {
        fill(step, false);
        if (!request_.declared) message.data = runtime::Parcel(sent_);
    }
    if (request_.declared) message.data = runtime::Parcel({}, bytes);
    leaving_->begin();
    rank_.endpoint_.start_send(
        self_.worker(), to, signature_.number, std::move(message),
        [leaving = leaving_, lent](Worker& worker) {
            if (lent) lent->end(worker);
            leaving->end(worker);
        },
        sharing);
}

/// Before the elements change: waits until they have left, or gives the send a copy if its receiver has not
/// asked for them: it may do so only when this rank has gone on.
void Rank::Execution::take_back(const Lent& lent) {
    if (lent.loan->is_only_offered()) {
        const Index count = lent.range.count;
        runtime::Body copy;
        if (!request_.declared) copy = rank_.buffers_->make(count * request_.element_bytes);
        do_now({&request_, copy ? copy->data() : nullptr, at(lent.range), count});
        if (lent.loan->replace(std::move(copy))) return;
    }
    lent.leaving->wait(self_);
}

/// Packs the elements into `sent_`, unless they are there.
void Rank::Execution::fill(const Step& step, bool with_signature) {
    if (sent_ && step.from == sent_range_ && sent_signature_ == with_signature) return;
    const Index bytes = step.from.count * request_.element_bytes;
    const Index before = with_signature ? sizeof(Signature) : 0;
    const Index content = before + (request_.declared ? 0 : bytes);
    sent_ = with_signature ? std::make_shared<runtime::Bytes>(content) : rank_.buffers_->make(content);
    sent_range_ = step.from;
    sent_signature_ = with_signature;
    if (with_signature) std::memcpy(sent_->data(), &signature_, before);
    if (bytes > 0) pack(step, sent_->data() + before);
}

void Rank::Execution::receive(const Step& step) {
    auto begun = rank_.endpoint_.begin_receive(self_.worker(), {.from = rank_.places_.address(step.peer)});
    Landing landing;
    runtime::Incoming message =
        rank_.endpoint_.end_receive(self_, begun, [&](const runtime::Parcel& head, std::uint64_t bytes) {
            return place_of(step, head.bytes(), bytes, landing);
        });
    if (landing.buffer) message.data = runtime::Parcel(landing.buffer);
    std::span<const std::byte> data = message.data.bytes();
    const bool borrows = message.large && message.large->loan;
    if (borrows) {
        data = message.large->borrowed;
        expect(step, message.large->head.bytes(), data.size() + message.data.declared());
    } else if (!message.large) {
        const auto signature = data.first(std::min(data.size(), sizeof(Signature)));
        data = data.subspan(signature.size());
        expect(step, signature, data.size() + message.data.declared());
    }
    if (message.data.declared() != (request_.declared ? step.to.count * request_.element_bytes : 0))
        throw runtime::MalformedMessage("it has other elements than its call");
    if (landing.in_place) sent_.reset();
    if (landing.in_place || step.to.count == 0) return;
    const bool combines = step.kind == Step::Kind::combine;
    Local local{&request_, at(step.to), data.data(), step.to.count, combines, step.other_first};
    if (request_.exchange)
        local = moved(request_.exchange->unpacking(step.peer, rank_.rank_), request_.output, data.data());
    if (borrows) {
        local.lent = message.large->loan.get();
        return do_borrowed(step, std::move(local), *message.large);
    }
    // Other threads may still read it when this one goes on.
    if (message.large || local.bytes() >= shared_bytes) local.message = std::move(message.data);
    do_locally(step, std::move(local));
}

std::span<std::byte> Rank::Execution::place_of(const Step& step, std::span<const std::byte> head, Index bytes,
                                               Landing& landing) {
    expect(step, head, bytes);
    landing.in_place = lends() && step.kind == Step::Kind::receive && !is_lent(step.to);
    if (landing.in_place) settle(step);
    if (request_.declared) return {};
    if (landing.in_place) return {at(step.to), bytes};
    landing.buffer = rank_.buffers_->make(bytes);
    return *landing.buffer;
}

/// Throws Error unless a message of so many bytes is what the step receives.
void Rank::Execution::expect(const Step& step, std::span<const std::byte> signature, Index bytes) {
    Signature others;
    if (signature.size() != sizeof others) throw runtime::MalformedMessage("it is of no collective call");
    std::memcpy(&others, signature.data(), sizeof others);
    if (others != signature_) rank_.refuse(signature_, step.peer, others);
    if (const Index sent = bytes / request_.element_bytes; request_.exchange && sent != step.to.count)
        throw Error(fmt::format("{}: rank {} sends rank {} {} elements, which expects {}", request_.name(),
                                step.peer, rank_.rank_, sent, step.to.count),
                    "what a rank gives another one must be what that one takes of it");
    if (bytes != step.to.count * request_.element_bytes)
        throw runtime::MalformedMessage("it has other elements than its call");
}

void Rank::Execution::do_locally(const Step& step, Local local) {
    settle(step);
    sent_.reset();
    const std::uint32_t parts = local.bytes() >= shared_bytes ? copiers() : 1;
    if (parts == 1 || !settings_.overlap) return do_now(local);
    pending_.emplace_back(std::move(local), step.to, step.from);
    crew_->start(self_, pending_.back(), parts - 1);
}

/// With elements of another rank of the node. Two ranks may each wait until the other one has read: so a rank
/// gives back what it has borrowed before it waits.
void Rank::Execution::do_borrowed(const Step& step, Local local, runtime::LargeIncoming& message) {
    if (!is_lent(step.to)) {
        settle(step);
        sent_.reset();
        do_now(local);
        return message.give_back(self_.worker());
    }
    runtime::Body copy;
    if (!request_.declared) copy = rank_.buffers_->make(local.bytes());
    do_now({.request = &request_,
            .into = copy ? copy->data() : nullptr,
            .from = local.from,
            .count = local.count,
            .lent = local.lent});
    message.give_back(self_.worker());
    local.lent = nullptr;
    if (copy) local.from = copy->data();
    local.message = runtime::Parcel(std::move(copy));
    do_locally(step, std::move(local));
}

void Rank::Execution::do_now(const Local& local) {
    const std::uint32_t parts = local.bytes() >= shared_bytes ? copiers() : 1;
    if (parts == 1) return local.part(self_, 0, 1);
    LocalJob job(local);
    crew_->run(self_, job, parts);
}

/// A step waits for copies under way that write what it reads or writes, or read what it writes, and for
/// sends that read what it writes.
void Rank::Execution::settle(const Step& step) {
    const auto hinders = [&](const LocalJob& job) { return job.hinders(step); };
    while (std::ranges::any_of(pending_, hinders)) finish_first();
    const auto is_written = [&](const Lent& each) { return overlap(each.range, step.to); };
    for (const Lent& each : lent_)
        if (is_written(each)) take_back(each);
    std::erase_if(lent_, is_written);
}

void Rank::Execution::finish_first() {
    crew_->finish(self_, pending_.front());
    pending_.pop_front();
}

// --- several threads that communicate

/// Parts 0 and following communicate, the last one copies if there is a thread for it.
class Rank::Part final : public Job {
public:
    Part(Rank& rank, const Request& request, const CrewSettings& settings, std::uint32_t communicators)
        : rank_(rank), request_(request), settings_(settings), communicators_(communicators) {}

    void part(Strand& self, std::uint32_t part, std::uint32_t parts) override {
        const Execution::Share share{part, communicators_, part < communicators_, part + 1 == parts};
        Execution execution(rank_, self, request_, nullptr, settings_, share);
        say_steps(request_, rank_.call_of(request_), execution);
        execution.finish();
    }

private:
    Rank& rank_;
    const Request& request_;
    const CrewSettings& settings_;
    std::uint32_t communicators_;
};

// --- the rank

Index segment_elements(Index element_bytes) {
    return std::max<Index>(1, Rank::segment_bytes / element_bytes);
}

Rank::Rank(runtime::Node& node, RankId rank, RankId ranks, RankPlaces places, const Levels& levels)
    : node_(node),
      endpoint_(node, places.address(rank).number, runtime::Endpoint::window, places.use()),
      rank_(rank),
      ranks_(ranks),
      places_(places),
      levels_(levels),
      calls_(places.split_call == 0 ? 0 : places.split_call - 1) {}

Call Rank::call_of(const Request& request) const {
    return {rank_, ranks_, request.root, request.count, segment_elements(request.element_bytes), &levels_};
}

void Rank::run(Strand& self, const Request& request, Crew& crew, const CrewSettings& settings) {
    if (request.combine.apply && !request.combine.commutes && request.algorithm->commutes)
        throw Error(fmt::format("{} by {} with an operator that does not commute", name_of(request.operation),
                                request.algorithm->name),
                    "it combines ranks in another order; choose another algorithm (heddle list collectives)")
            .as_refusal();
    if (request.root >= ranks_)
        throw Error(fmt::format("{} with root {}, and there are {} ranks", name_of(request.operation),
                                request.root, ranks_),
                    "ranks are numbered from 0");
    ++calls_;
    execute(self, request, crew, settings);
}

void Rank::execute(Strand& self, const Request& request, Crew& crew, const CrewSettings& settings) {
    const std::uint32_t communicators = std::clamp<std::uint32_t>(settings.communicators, 1, crew.threads());
    if (communicators > 1 && (request.exchange || request.algorithm->independent)) {
        Part part(*this, request, settings, communicators);
        return crew.run(self, part, std::min(communicators + 1, crew.threads()));
    }
    Execution execution(*this, self, request, &crew, settings, {});
    say_steps(request, call_of(request), execution);
    execution.finish();
}

void Rank::end(Strand& self, std::uint64_t split_calls) {
    ++calls_;
    Request request;  // without an algorithm
    request.count = split_calls;
    const CrewSettings settings;
    Execution execution(*this, self, request, nullptr, settings, {});
    find_algorithm(Operation::barrier, "dissemination").steps(call_of(request), execution);
    execution.finish();
    expect_nothing_left_at_end(split_calls);
}

void Rank::refuse(const Signature& own, RankId other, const Signature& others) const {
    throw Error(
        fmt::format("ranks {} and {} disagree in a collective call: call {} of rank {} is {}, and call "
                    "{} of rank {} is {}",
                    rank_, other, own.number, rank_, in_words(own), others.number, other, in_words(others)),
        "all ranks make the same collective calls in the same order, with the same sizes and roots");
}

}  // namespace heddle::spmd
