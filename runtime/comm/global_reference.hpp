// The address of an object on some node, with that node's number. Any node may store or send it; only the
// object's own node may follow it.
#pragma once

#include <cstdint>

#include "base/assert.hpp"
#include "base/ids.hpp"

namespace heddle::runtime {

template <class T>
struct GlobalReference {
    NodeId node = 0;
    std::uint64_t address = 0;

    GlobalReference() = default;
    GlobalReference(NodeId home, T* object) : node(home), address(reinterpret_cast<std::uintptr_t>(object)) {}

    /// The object itself. `here` is the node that asks, which must be its home.
    T& on(NodeId here) const {
        HEDDLE_ASSERT(here == node && address != 0);
        return *reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
    }

    friend bool operator==(const GlobalReference&, const GlobalReference&) = default;
};

}  // namespace heddle::runtime
