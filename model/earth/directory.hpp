// A node's table of proxies of EARTH objects: for each object of another node, the proxy that threads of this
// node use. A thread finds a proxy here without a message. The table owns no proxy.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "model/earth/fiber.hpp"
#include "runtime/core/spin_lock.hpp"

namespace heddle::model::earth {

class Mailbox;

/// Objects are known by the mailbox that takes their requests. From any thread of the node.
class Directory {
public:
    /// From now on `proxy`, a mailbox of this node, takes the requests of this node's threads to `object`.
    void enter(Global<Mailbox> object, Mailbox& proxy) {
        const runtime::SpinLock::Guard guard(lock_);
        proxies_.insert_or_assign(key(object), &proxy);
    }
    void leave(Global<Mailbox> object) {
        const runtime::SpinLock::Guard guard(lock_);
        proxies_.erase(key(object));
    }

    /// Null where `object` has no proxy here.
    Mailbox* find(Global<Mailbox> object) const {
        const runtime::SpinLock::Guard guard(lock_);
        const auto found = proxies_.find(key(object));
        return found == proxies_.end() ? nullptr : found->second;
    }

private:
    using Key = std::pair<NodeId, std::uint64_t>;
    static Key key(Global<Mailbox> object) { return {object.node, object.address}; }

    mutable runtime::SpinLock lock_;
    std::map<Key, Mailbox*> proxies_;
};

}  // namespace heddle::model::earth
