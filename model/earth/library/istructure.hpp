// I-structures of EARTH's library: arrays whose elements are written once. A read before the write waits for
// it. A cached I-structure has a proxy on every other node (istructure_cache.hpp). Arvind, Nikhil, Pingali,
// "I-structures: data structures for parallel computing", ACM TOPLAS 11(4), 1989.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "model/earth/library/istructure_cache.hpp"
#include "model/earth/library/request.hpp"

namespace heddle::model::earth {

namespace detail {

template <class T>
struct IStructureParameters {
    Global<IStructure<T>> structure;
    Sptr ready;
    std::uint64_t size;
    std::uint32_t block_size;  ///< elements that a cache fetches together; 0: no caches
};

template <class T>
struct IStructureOwner : Threaded<IStructureOwner<T>, IStructureParameters<T>> {
    using Request = IStructureRequest<T>;
    using Kind = typename Request::Kind;

    Mailbox requests;
    std::unique_ptr<T[]> values;
    std::vector<std::uint8_t> written;
    std::map<std::uint64_t, std::vector<Request>> waiting;  ///< by element: reads and fetches
    std::vector<Global<Mailbox>> caches;
    std::size_t caches_missing = 0;

    void init(Em em) {
        em.init_mailbox(requests, arrived);
        values = std::make_unique<T[]>(this->size);
        written.resize(this->size);
        if (this->block_size != 0) caches_missing = em.num_nodes() - 1;
        if (caches_missing == 0) return tell(em);
        for (NodeId node = 0; node < em.num_nodes(); ++node) {
            if (node != em.node_id())
                em.invoke<IStructureCache<T>>(node, em.to_global(requests), this->size, this->block_size);
        }
    }

    void serve(Em em) {
        Request request;
        em.retrieve_item(requests, request);
        switch (request.kind) {
            case Kind::attach:
                caches.push_back(request.cache);
                if (--caches_missing == 0) tell(em);
                break;
            case Kind::read:
                check_index(em, request.index, this->size);
                if (written[request.index]) {
                    em.put_sync(values[request.index], request.target, request.slot);
                } else {
                    waiting[request.index].push_back(request);
                }
                break;
            case Kind::fetch:
                send_block(em, request, false);
                if (!written[request.index]) waiting[request.index].push_back(request);
                break;
            case Kind::write:
                write(em, request);
                break;
            case Kind::destroy:
                if (caches.empty()) return end(em);
                caches_missing = caches.size();
                for (const auto cache : caches) em.drop_in(cache, Request{Kind::destroy});
                break;
            case Kind::detach:
                if (--caches_missing == 0) end(em);
        }
    }
    ExclusiveFiber<&IStructureOwner::serve> arrived{*this, 1};

private:
    void tell(Em em) { em.put_sync({em.to_global(requests)}, this->structure, this->ready); }

    void write(Em em, const Request& request) {
        check_index(em, request.index, this->size);
        if (written[request.index]) {
            wrong_use(em, "element " + std::to_string(request.index) + " of an I-structure is written twice",
                      "an element of an I-structure is written once");
        }
        values[request.index] = request.value;
        written[request.index] = 1;
        sync_if(em, request.slot);
        const auto readers = waiting.extract(request.index);
        if (!readers) return;
        for (const Request& reader : readers.mapped()) {
            if (reader.kind == Kind::fetch) {
                send_block(em, reader, true);
            } else {
                em.put_sync(request.value, reader.target, reader.slot);
            }
        }
    }

    void send_block(Em em, const Request& fetch, bool late) {
        const std::uint64_t first = fetch.index - fetch.index % this->block_size;
        const auto count = std::min<std::uint64_t>(this->block_size, this->size - first);
        const runtime::Bytes bytes = IStructureBlock<T>::pack({first, count, fetch.index, late},
                                                              written.data() + first, values.get() + first);
        em.drop_in(fetch.cache, std::span<const std::byte>(bytes));
    }

    void end(Em em) {
        if (!waiting.empty()) {
            wrong_use(em,
                      "an I-structure is destroyed while element " + std::to_string(waiting.begin()->first) +
                          " is waited for",
                      "destroy it when every read was answered");
        }
        em.terminate();
    }
};

}  // namespace detail

/// Makes an I-structure of `size` elements on node `home`; writes its handle to `structure` and signals
/// `ready`. `block_size`: how many elements the other nodes' caches fetch together; 0: nothing is cached.
template <class T>
void init_istructure(Em em, NodeId home, Global<IStructure<T>> structure, std::uint64_t size,
                     std::uint32_t block_size, Em::SlotArgument ready) {
    static_assert(std::is_trivially_copyable_v<T>, "what travels is plain bytes");
    em.invoke<detail::IStructureOwner<T>>(home, structure, em.to_sptr(ready), size, block_size);
}

/// Writes element `index` to `target`, when it has been written itself, and then signals `read`. Where there
/// is no such element, a handler throws Error.
template <class T>
void read_sync(Em em, IStructure<T> structure, std::uint64_t index, Global<std::type_identity_t<T>> target,
               Em::SlotArgument read) {
    using Request = detail::IStructureRequest<T>;
    Mailbox* const cache = em.directory().find(structure.owner);
    em.drop_in(cache ? em.to_global(*cache) : structure.owner,
               Request{Request::Kind::read, index, em.to_sptr(read), target});
}

/// Writes element `index`, from any node. `written`: signalled when that is done. Where it has been written
/// before, or there is no such element, the owner throws Error.
template <class T>
void write_sync(Em em, IStructure<T> structure, std::uint64_t index, const std::type_identity_t<T>& value,
                Em::SlotArgument written = no_slot) {
    using Request = detail::IStructureRequest<T>;
    em.drop_in(structure.owner, Request{Request::Kind::write, index, em.to_sptr(written), {}, {}, value});
}

/// Ends the I-structure and its caches. Every read must have been answered, and every write been read or
/// answered. Where an element is still waited for, it does not end, or its owner throws Error.
template <class T>
void destroy(Em em, IStructure<T> structure) {
    using Request = detail::IStructureRequest<T>;
    em.drop_in(structure.owner, Request{Request::Kind::destroy});
}

}  // namespace heddle::model::earth
