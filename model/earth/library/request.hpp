// What the objects of the library have in common. Each is an active monitor: a handler thread on the object's
// home node with exclusive fibers. Its mailbox takes requests from any node. A handle is plain
// bytes: pass it to threads as you pass any value.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "model/earth.hpp"

namespace heddle::model::earth {

/// In place of a slot: the caller does not ask for a signal.
inline const Sptr no_slot;

namespace detail {

/// Signals a slot, unless it is `no_slot`.
inline void sync_if(Em em, Sptr slot) {
    if (slot != no_slot) em.sync(slot);
}

/// Wrong use, found by the handler thread of an object on this node.
[[noreturn]] inline void wrong_use(Em em, const std::string& what, const std::string& advice) {
    throw Error("node " + std::to_string(em.node_id()) + ": " + what, advice);
}

}  // namespace detail

}  // namespace heddle::model::earth
