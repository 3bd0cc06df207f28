// A split-phase lock (EARTH: Tremblay et al., section 2: LOCK_SYNC). First come, first served.
//
//     lock_sync(em, lock, obtained);
//     ...
//     void critical(Em em) {
//         ...
//         unlock(em, lock);
//     }
//     Fiber<&F::critical> obtained{*this, 1};
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "model/earth/library/request.hpp"

namespace heddle::model::earth {

struct Lock {
    Global<Mailbox> requests;
};

namespace detail {

struct LockRequest {
    enum class Kind : std::uint8_t { lock, unlock, destroy };

    Kind kind;
    Sptr obtained = no_slot;
};

struct LockParameters {
    Global<Lock> lock;
    Sptr ready;
};

/// Invariant: if a thread waits for the lock, another thread holds it.
struct LockHandler : Threaded<LockHandler, LockParameters> {
    static constexpr auto name = "earth_lock_handler";

    Mailbox requests;
    std::deque<Sptr> waiting;
    bool held = false;
    bool ending = false;

    void init(Em em) {
        em.init_mailbox(requests, arrived);
        em.put_sync({em.to_global(requests)}, lock, ready);
    }

    void serve(Em em) {
        LockRequest request;
        em.retrieve_item(requests, request);
        switch (request.kind) {
            case LockRequest::Kind::lock:
                waiting.push_back(request.obtained);
                break;
            case LockRequest::Kind::unlock:
                if (!std::exchange(held, false))
                    wrong_use(em, "a lock is unlocked that no thread holds",
                              "unlock once for each lock_sync");
                break;
            case LockRequest::Kind::destroy:
                ending = true;
        }
        if (!held && !waiting.empty()) {
            held = true;
            em.sync(waiting.front());
            waiting.pop_front();
        }
        if (ending && !held) em.terminate();
    }
    ExclusiveFiber<&LockHandler::serve> arrived{*this, 1};
};

}  // namespace detail

/// INIT_LOCK: makes a lock on node `home`, writes its handle to `lock` and signals `ready`.
inline void init_lock(Em em, NodeId home, Global<Lock> lock, Em::SlotArgument ready) {
    em.invoke<detail::LockHandler>(home, lock, em.to_sptr(ready));
}

/// LOCK_SYNC: `obtained` is signalled when the lock is the caller's. From any node; locks are given in the
/// order in which requests arrive.
inline void lock_sync(Em em, Lock lock, Em::SlotArgument obtained) {
    em.drop_in(lock.requests, detail::LockRequest{detail::LockRequest::Kind::lock, em.to_sptr(obtained)});
}

/// UNLOCK: by the thread that holds it, from any fiber. If no thread does, the lock's handler throws Error.
inline void unlock(Em em, Lock lock) {
    em.drop_in(lock.requests, detail::LockRequest{detail::LockRequest::Kind::unlock});
}

/// The lock ends as soon as no thread holds it or waits for it. Every lock_sync must have been answered, or
/// come from the same fiber.
inline void destroy(Em em, Lock lock) {
    em.drop_in(lock.requests, detail::LockRequest{detail::LockRequest::Kind::destroy});
}

}  // namespace heddle::model::earth
