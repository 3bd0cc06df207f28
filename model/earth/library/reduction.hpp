// A reduction box of EARTH's library: it combines a fixed number of contributions as they arrive, gives one
// result, and starts over.
#pragma once

#include <cstdint>
#include <deque>
#include <type_traits>

#include "model/earth/library/request.hpp"

namespace heddle::model::earth {

template <class T>
struct ReductionBox {
    Global<Mailbox> requests;
};

namespace detail {

template <class T>
struct ReductionRequest {
    enum class Kind : std::uint8_t { contribute, collect, destroy };

    Kind kind;
    Sptr slot = no_slot;
    Global<T> target = {};
    T value = {};
};

template <class T>
struct ReductionParameters {
    Global<ReductionBox<T>> box;
    Sptr ready;
    std::uint64_t contributions;
};

/// Invariant: if a reader waits for a result, no result is stored.
template <class T, class Operator>
struct ReductionHandler : Threaded<ReductionHandler<T, Operator>, ReductionParameters<T>> {
    using Request = ReductionRequest<T>;

    Mailbox requests;
    std::uint64_t come = 0;  ///< contributions of this round
    T partial = {};
    std::deque<T> results;
    std::deque<Request> collectors;

    void init(Em em) {
        em.init_mailbox(requests, arrived);
        em.put_sync({em.to_global(requests)}, this->box, this->ready);
    }

    void serve(Em em) {
        Request request;
        em.retrieve_item(requests, request);
        switch (request.kind) {
            case Request::Kind::contribute:
                partial = come == 0 ? request.value : Operator{}(partial, request.value);
                if (++come == this->contributions) {
                    results.push_back(partial);
                    come = 0;
                }
                break;
            case Request::Kind::collect:
                collectors.push_back(request);
                break;
            case Request::Kind::destroy:
                if (come != 0 || !results.empty() || !collectors.empty())
                    wrong_use(em, "a reduction box is destroyed in the midst of a round",
                              "collect the result of every round, and destroy the box after the last");
                return em.terminate();
        }
        if (results.empty() || collectors.empty()) return;
        em.put_sync(results.front(), collectors.front().target, collectors.front().slot);
        results.pop_front();
        collectors.pop_front();
    }
    ExclusiveFiber<&ReductionHandler::serve> arrived{*this, 1};
};

}  // namespace detail

/// Makes a box on node `home` whose rounds have `contributions` each, at least one; writes its handle to
/// `box` and signals `ready`. `Operator{}(a, b)` combines two; it is associative and commutative, for
/// contributions come in any order. Throws Error.
template <class Operator, class T>
void init_reduction(Em em, NodeId home, Global<ReductionBox<T>> box, std::uint64_t contributions,
                    Em::SlotArgument ready) {
    static_assert(std::is_trivially_copyable_v<T>, "what travels is plain bytes");
    if (contributions == 0)
        detail::wrong_use(em, "a reduction box of no contributions", "a round has at least one");
    em.invoke<detail::ReductionHandler<T, Operator>>(home, box, em.to_sptr(ready), contributions);
}

/// Gives a value to the present round. A caller that contributes to two rounds must know that the first is
/// complete before its second contribution: the handler counts an early value in the present round.
template <class T>
void contribute(Em em, ReductionBox<T> box, const std::type_identity_t<T>& value) {
    using Request = detail::ReductionRequest<T>;
    em.drop_in(box.requests, Request{Request::Kind::contribute, no_slot, {}, value});
}

/// Writes the result of the first round that was not asked for yet to `target`, when it is complete, and
/// then signals `collected`.
template <class T>
void collect_sync(Em em, ReductionBox<T> box, Global<std::type_identity_t<T>> target,
                  Em::SlotArgument collected) {
    using Request = detail::ReductionRequest<T>;
    em.drop_in(box.requests, Request{Request::Kind::collect, em.to_sptr(collected), target});
}

/// Ends a box between rounds, when all results have been collected. Else its handler throws Error.
template <class T>
void destroy(Em em, ReductionBox<T> box) {
    using Request = detail::ReductionRequest<T>;
    em.drop_in(box.requests, Request{Request::Kind::destroy});
}

}  // namespace heddle::model::earth
