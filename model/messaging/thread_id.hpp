// The global identifiers of processes and threads: <process, thread> (the pCoR paper, section 3.1). They are
// never reused.
#pragma once

#include <cstdint>
#include <optional>

#include "base/ids.hpp"
#include "runtime/comm/endpoint.hpp"

namespace heddle::messaging {

/// A pCoR process is a node: an address space with workers of its own.
using ProcessId = NodeId;

/// A thread of any process. Plain bytes: it may travel in messages.
struct ThreadId {
    ProcessId process = 0;
    std::uint32_t thread = 0;

    bool operator==(const ThreadId&) const = default;
};

using Tag = std::uint64_t;

/// Which messages a receive takes; what is left out may be any. A thread without its process is none.
struct From {
    std::optional<ThreadId> thread{};
    std::optional<Tag> tag{};
};

/// What a receive tells of its message: actual source, tag and size in bytes.
struct Actual {
    ThreadId from;
    Tag tag = 0;
    std::uint64_t size = 0;
};

/// Each thread has an endpoint, whose number its identifier is counted from 0.
inline runtime::Address address_of(ThreadId id) {
    return {id.process, runtime::Endpoint::first_strict + id.thread};
}
inline ThreadId id_of(runtime::Address address) {
    return {address.node, address.number - runtime::Endpoint::first_strict};
}

}  // namespace heddle::messaging
