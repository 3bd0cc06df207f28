// A counting semaphore of EARTH's library. A fiber waits split-phase, by a slot. First come, first served.
#pragma once

#include <cstdint>
#include <deque>

#include "model/earth/library/request.hpp"

namespace heddle::model::earth {

struct Semaphore {
    Global<Mailbox> requests;
};

namespace detail {

struct SemaphoreRequest {
    enum class Kind : std::uint8_t { acquire, release, destroy };

    Kind kind;
    Sptr slot = no_slot;
};

struct SemaphoreParameters {
    Global<Semaphore> semaphore;
    Sptr ready;
    std::uint64_t count;
};

/// Invariant: if a thread waits, the count is 0.
struct SemaphoreHandler : Threaded<SemaphoreHandler, SemaphoreParameters> {
    static constexpr auto name = "earth_semaphore_handler";

    Mailbox requests;
    std::deque<Sptr> waiting;

    void init(Em em) {
        em.init_mailbox(requests, arrived);
        em.put_sync({em.to_global(requests)}, semaphore, ready);
    }

    void serve(Em em) {
        SemaphoreRequest request;
        em.retrieve_item(requests, request);
        switch (request.kind) {
            case SemaphoreRequest::Kind::acquire:
                waiting.push_back(request.slot);
                break;
            case SemaphoreRequest::Kind::release:
                ++count;
                sync_if(em, request.slot);
                break;
            case SemaphoreRequest::Kind::destroy:
                if (!waiting.empty())
                    wrong_use(em, "a semaphore is destroyed for which threads wait",
                              "destroy it when every acquire was answered");
                em.terminate();
                return;
        }
        if (count == 0 || waiting.empty()) return;
        --count;
        em.sync(waiting.front());
        waiting.pop_front();
    }
    ExclusiveFiber<&SemaphoreHandler::serve> arrived{*this, 1};
};

}  // namespace detail

/// Makes a semaphore of `count` units on node `home`, writes its handle to `semaphore` and signals `ready`.
inline void init_semaphore(Em em, NodeId home, Global<Semaphore> semaphore, std::uint64_t count,
                           Em::SlotArgument ready) {
    em.invoke<detail::SemaphoreHandler>(home, semaphore, em.to_sptr(ready), count);
}

/// P: `acquired` is signalled when a unit is the caller's. From any node, in the order of arrival.
inline void acquire_sync(Em em, Semaphore semaphore, Em::SlotArgument acquired) {
    em.drop_in(semaphore.requests,
               detail::SemaphoreRequest{detail::SemaphoreRequest::Kind::acquire, em.to_sptr(acquired)});
}

/// V: gives a unit, which need not have been acquired. `counted`: signalled when it has arrived.
inline void release(Em em, Semaphore semaphore, Em::SlotArgument counted = no_slot) {
    em.drop_in(semaphore.requests,
               detail::SemaphoreRequest{detail::SemaphoreRequest::Kind::release, em.to_sptr(counted)});
}

/// Ends the semaphore, whatever its count. Every acquire and release must have been answered, or come from
/// the same fiber. If a thread still waits, its handler throws Error.
inline void destroy(Em em, Semaphore semaphore) {
    em.drop_in(semaphore.requests, detail::SemaphoreRequest{detail::SemaphoreRequest::Kind::destroy});
}

}  // namespace heddle::model::earth
