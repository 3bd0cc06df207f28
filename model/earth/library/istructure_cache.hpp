// The cache of an EARTH I-structure (a write-once array) on a node that is not its home: it keeps elements
// once read, and gets them in blocks. A read of a block under way waits here. No element changes, so none is
// invalidated. J. N. Amaral, W.-Y. Lin, J.-L. Gaudiot, G. R. Gao, "Exploiting locality in single assignment
// data structures updated through split-phase transactions", Cluster Computing 4, 2001. Programs include
// istructure.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "model/earth/library/request.hpp"

namespace heddle::model::earth {

template <class T>
struct IStructure {
    Global<Mailbox> owner;
};

namespace detail {

/// To the owner, or to a cache.
template <class T>
struct IStructureRequest {
    enum class Kind : std::uint8_t { attach, read, fetch, write, destroy, detach };

    Kind kind;
    std::uint64_t index = 0;
    Sptr slot = no_slot;
    Global<T> target = {};
    Global<Mailbox> cache = {};  ///< attach: for requests; fetch: for blocks
    T value = {};
};

/// Elements on their way to a cache.
template <class T>
struct IStructureBlock {
    struct Header {
        std::uint64_t first;  ///< element
        std::uint64_t count;
        std::uint64_t asked;  ///< the element that was asked for
        bool late;  ///< the second answer to a fetch, when that element has been written after the first
    };
    Header header;
    std::vector<std::uint8_t> written;
    std::unique_ptr<T[]> values;

    static runtime::Bytes pack(const Header& header, const std::uint8_t* written, const T* values) {
        runtime::Bytes bytes(sizeof header + header.count * (1 + sizeof(T)));
        std::memcpy(bytes.data(), &header, sizeof header);
        std::memcpy(bytes.data() + sizeof header, written, header.count);
        std::memcpy(bytes.data() + sizeof header + header.count, values, header.count * sizeof(T));
        return bytes;
    }
    static IStructureBlock unpack(const runtime::Bytes& bytes) {
        IStructureBlock block;
        std::memcpy(&block.header, bytes.data(), sizeof(Header));
        const std::size_t count = block.header.count;
        block.written.resize(count);
        block.values = std::make_unique<T[]>(count);
        std::memcpy(block.written.data(), bytes.data() + sizeof(Header), count);
        std::memcpy(block.values.get(), bytes.data() + sizeof(Header) + count, count * sizeof(T));
        return block;
    }
};

inline void check_index(Em em, std::uint64_t index, std::uint64_t size) {
    if (index >= size) {
        wrong_use(em, "element " + std::to_string(index) + " of an I-structure of " + std::to_string(size),
                  "elements are numbered from 0");
    }
}

template <class T>
struct IStructureCacheParameters {
    Global<Mailbox> owner;
    std::uint64_t size;
    std::uint32_t block_size;
};

/// A fetch names an element. The owner answers at once with the written part of the element's block. If the
/// element itself is missing, the owner answers again once it is written. So a missing element delays no
/// reader of another element of its block. The answers may overtake each other.
template <class T>
struct IStructureCache : Threaded<IStructureCache<T>, IStructureCacheParameters<T>> {
    using Request = IStructureRequest<T>;
    using Kind = typename Request::Kind;
    using Incoming = IStructureBlock<T>;

    struct Block {
        std::vector<std::uint8_t> written;
        std::unique_ptr<T[]> values;
        std::uint64_t first_answers_missing = 0;
        std::map<std::uint64_t, std::vector<Request>> waiting;  ///< by element: reads
        std::set<std::uint64_t> promised;  ///< elements that come when they have been written
    };

    Mailbox requests, incoming;
    std::map<std::uint64_t, Block> blocks;
    std::uint64_t first_answers_missing = 0;
    std::int64_t late_answers_missing = 0;  ///< below 0 where one has overtaken its first answer
    bool ending = false;

    void init(Em em) {
        em.init_mailbox(requests, arrived);
        em.init_mailbox(incoming, block_arrived);
        em.directory().enter(this->owner, requests);
        em.drop_in(this->owner, Request{Kind::attach, 0, no_slot, {}, em.to_global(requests)});
    }

    void serve(Em em) {
        Request request;
        em.retrieve_item(requests, request);
        if (request.kind == Kind::destroy) {
            ending = true;
            return end_if_quiet(em);
        }
        check_index(em, request.index, this->size);
        const std::uint64_t number = request.index / this->block_size;
        Block& block = blocks[number];
        const std::uint64_t place = request.index % this->block_size;
        if (!block.written.empty() && block.written[place])
            return em.put_sync(block.values[place], request.target, request.slot);
        block.waiting[request.index].push_back(request);
        if (block.first_answers_missing == 0) ask(em, block);
    }
    ExclusiveFiber<&IStructureCache::serve> arrived{*this, 1};

    void take_block(Em em) {
        Incoming come = Incoming::unpack(em.retrieve_item_addr(incoming));
        const auto& header = come.header;
        Block& block = blocks[header.first / this->block_size];
        keep(block, come);
        if (header.late) {
            --late_answers_missing;
        } else {
            --first_answers_missing;
            --block.first_answers_missing;
            if (!come.written[header.asked - header.first]) {
                ++late_answers_missing;
                block.promised.insert(header.asked);
            }
        }
        for (auto next = block.waiting.begin(); next != block.waiting.end();) {
            const auto& [index, reads] = *next;
            const std::uint64_t place = index - header.first;
            if (!block.written[place]) {
                ++next;
                continue;
            }
            for (const Request& read : reads) em.put_sync(block.values[place], read.target, read.slot);
            next = block.waiting.erase(next);
        }
        if (block.first_answers_missing == 0) ask(em, block);
        end_if_quiet(em);
    }
    ExclusiveFiber<&IStructureCache::take_block> block_arrived{*this, 1};

private:
    static void keep(Block& block, Incoming& come) {
        if (block.written.empty()) {
            block.written = come.written;
            block.values = std::move(come.values);
            return;
        }
        for (std::uint64_t i = 0; i < come.header.count; ++i) {
            if (!come.written[i]) continue;
            block.written[i] = 1;
            block.values[i] = come.values[i];
        }
    }

    /// For each element that is waited for and not promised.
    void ask(Em em, Block& block) {
        for (const auto& [index, reads] : block.waiting) {
            if (block.promised.contains(index)) continue;
            em.drop_in(this->owner, Request{Kind::fetch, index, no_slot, {}, em.to_global(incoming)});
            ++first_answers_missing;
            ++block.first_answers_missing;
        }
    }

    void end_if_quiet(Em em) {
        if (!ending || first_answers_missing != 0 || late_answers_missing != 0) return;
        em.directory().leave(this->owner);
        em.drop_in(this->owner, Request{Kind::detach});
        em.terminate();
    }
};

}  // namespace detail

}  // namespace heddle::model::earth
