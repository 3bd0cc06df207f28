// Shared by the objects of EARTH's library. Each object has a handler thread on its home node. Fibers of any
// node send requests to its mailbox; the handler's exclusive fibers serve them in turn. A handle of an object
// is plain bytes, to be passed to threads like any value.
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
