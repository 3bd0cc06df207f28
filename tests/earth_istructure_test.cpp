// Tests EARTH's I-structures, cached and not: reads before and after the write, a single write, and the
// messages that a cache saves.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/earth/library/istructure.hpp"
#include "tests/earth_library_testing.hpp"

namespace heddle::earth_testing {
namespace {

using testing::HasSubstr;

struct ArrayState {
    std::uint64_t size = 13;
    std::uint32_t block = 0;
    bool backwards = false;  ///< the last element is read first
    int right = 0;           ///< elements read that were as they should be
};

struct ArrayParameters {
    IStructure<std::int64_t> array;
    Sptr done;
    std::uint64_t index;
};

std::int64_t value_of(std::uint64_t index) {
    return static_cast<std::int64_t>(3 * index + 7);
}

/// Reads an element and, when it has it, writes the next one.
struct Link : Threaded<Link, ArrayParameters> {
    std::int64_t value = 0;

    void init(Em em) { read_sync(em, array, index, em.to_global(value), read); }
    void write(Em em) {
        auto& shared = state<ArrayState>(em);
        shared.right += value == value_of(index);
        if (index + 1 < shared.size) write_sync(em, array, index + 1, value + 3);
        em.sync(done);
        em.terminate();
    }
    Fiber<&Link::write> read{*this, 1};
};

/// Reads all elements, those that are not there yet as well, and then all of them again.
struct Reader : Threaded<Reader, ArrayParameters> {
    std::vector<std::int64_t> values;
    bool again = false;

    void init(Em em) {
        const auto& shared = state<ArrayState>(em);
        values.assign(shared.size, 0);
        all_read.set(static_cast<std::uint32_t>(shared.size), static_cast<std::uint32_t>(shared.size));
        ask(em);
    }
    void ask(Em em) {
        const auto& shared = state<ArrayState>(em);
        for (std::uint64_t i = 0; i < shared.size; ++i) {
            const std::uint64_t element = shared.backwards ? shared.size - 1 - i : i;
            read_sync(em, array, element, em.to_global(values[element]), all_read);
        }
    }
    void check(Em em) {
        for (std::uint64_t i = 0; i < values.size(); ++i)
            state<ArrayState>(em).right += values[i] == value_of(i);
        values.assign(values.size(), 0);
        if (!std::exchange(again, true)) return ask(em);
        em.sync(done);
        em.terminate();
    }
    Fiber<&Reader::check> all_read{*this};
};

/// Readers on every node, and a chain of threads anywhere that write; the first write comes last.
struct ChainMain : Threaded<ChainMain> {
    IStructure<std::int64_t> array;

    void init(Em em) {
        const auto& shared = state<ArrayState>(em);
        done.set(static_cast<std::uint32_t>(shared.size) + 2 * em.num_nodes(), 0);
        init_istructure(em, 1, em.to_global(array), shared.size, shared.block, ready);
    }
    void begin(Em em) {
        for (NodeId i = 0; i < 2 * em.num_nodes(); ++i)
            em.invoke<Reader>(i % em.num_nodes(), array, em.to_sptr(done), std::uint64_t{0});
        for (std::uint64_t i = 0; i < state<ArrayState>(em).size; ++i)
            em.invoke<Link>(static_cast<NodeId>(i % em.num_nodes()), array, em.to_sptr(done), i);
        write_sync(em, array, 0, value_of(0));
    }
    void end(Em em) {
        destroy(em, array);
        em.terminate();
    }
    Fiber<&ChainMain::begin> ready{*this, 1};
    Fiber<&ChainMain::end> done{*this};
};

TEST(EarthIStructure, ReadsWaitForTheWriteWhereverTheyCome) {
    for (const std::uint32_t block : {0U, 1U, 4U, 13U, 100U}) {
        for (std::uint64_t seed = 0; seed < seeds; ++seed) {
            ArrayState state;
            state.block = block;
            state.backwards = seed % 2 == 1;
            run(state, start<ChainMain>, seed, 4);
            ASSERT_EQ(state.right, 13 + 8 * 2 * 13) << "blocks of " << block << ", seed " << seed;
        }
    }
}

// --- how many messages

/// On node 0, of two: writes all; then one thread of node 1 reads all of them, twice.
struct WriteAllMain : Threaded<WriteAllMain> {
    IStructure<std::int64_t> array;

    void init(Em em) {
        const auto& shared = state<ArrayState>(em);
        written.set(static_cast<std::uint32_t>(shared.size), 0);
        init_istructure(em, 0, em.to_global(array), shared.size, shared.block, ready);
    }
    void write(Em em) {
        for (std::uint64_t i = 0; i < state<ArrayState>(em).size; ++i)
            write_sync(em, array, i, value_of(i), written);
    }
    void read(Em em) { em.invoke<Reader>(1, array, em.to_sptr(done), std::uint64_t{0}); }
    void end(Em em) {
        destroy(em, array);
        em.terminate();
    }
    Fiber<&WriteAllMain::write> ready{*this, 1};
    Fiber<&WriteAllMain::read> written{*this};
    Fiber<&WriteAllMain::end> done{*this, 1};
};

/// Messages of both nodes for 2 x 1000 reads.
double messages_with_blocks_of(std::uint32_t block, std::uint64_t seed) {
    ArrayState state;
    state.size = 1000;
    state.block = block;
    const auto result = run_quietly(state, start<WriteAllMain>, seed, 2);
    EXPECT_EQ(state.right, 2000);
    return static_cast<double>(result.total.active_messages);
}

TEST(EarthIStructureCache, FetchesABlockByOneMessageAndKeepsIt) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        // What is sent anyhow: to begin and to end the run, and by idle workers.
        const double least = messages_with_blocks_of(1000, seed);
        EXPECT_LE(least, 300);
        // A question and an answer for each block, or for each read.
        EXPECT_NEAR(messages_with_blocks_of(10, seed), 2 * 100 + least, 100);
        EXPECT_NEAR(messages_with_blocks_of(1, seed), 2 * 1000 + least, 200);
        EXPECT_NEAR(messages_with_blocks_of(0, seed), 2 * 2000 + least, 200);
    }
}

/// Reads element 0 500 times on node 1, long before it is written.
struct Impatient : Threaded<Impatient, ArrayParameters> {
    std::int64_t value = 0, lingered = 0;

    void init(Em em) {
        for (int i = 0; i < 500; ++i) read_sync(em, array, 0, em.to_global(value), read);
        read_sync(em, array, 1, em.to_global(value), other_read);
    }
    void linger(Em em) {
        if (++lingered < 1000) return em.sync(other_read);
        write_sync(em, array, 0, value_of(0));
    }
    void end(Em em) {
        state<ArrayState>(em).right += value == value_of(0);
        em.sync(done);
        em.terminate();
    }
    Fiber<&Impatient::linger> other_read{*this, 1};
    Fiber<&Impatient::end> read{*this, 500};
};

struct ImpatientMain : Threaded<ImpatientMain> {
    IStructure<std::int64_t> array;

    void init(Em em) { init_istructure(em, 0, em.to_global(array), 4, state<ArrayState>(em).block, ready); }
    void begin(Em em) {
        write_sync(em, array, 1, value_of(1));
        em.invoke<Impatient>(1, array, em.to_sptr(done), std::uint64_t{0});
    }
    void end(Em em) {
        destroy(em, array);
        em.terminate();
    }
    Fiber<&ImpatientMain::begin> ready{*this, 1};
    Fiber<&ImpatientMain::end> done{*this, 1};
};

TEST(EarthIStructureCache, ReadsOfWhatIsUnderWayWaitHereAndHoldUpNobody) {
    const auto messages = [](std::uint32_t block, std::uint64_t seed) {
        ArrayState state;
        state.block = block;
        const auto result = run_quietly(state, start<ImpatientMain>, seed, 2);
        EXPECT_EQ(state.right, 1) << "seed " << seed;
        return result.total.active_messages;
    };
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        ASSERT_LE(messages(4, seed), 300) << "seed " << seed;
    }
    EXPECT_GE(messages(0, 1), 1000);
}

/// An owner that answers a fetch twice, in either order, and lets the cache end before the second answer.
struct SlowOwnerParameters {
    bool late_first;
};
struct SlowOwner : Threaded<SlowOwner, SlowOwnerParameters> {
    using Request = detail::IStructureRequest<std::int64_t>;
    using Block = detail::IStructureBlock<std::int64_t>;
    static constexpr std::uint64_t asked = 5;

    Mailbox requests;
    Global<Mailbox> cache, incoming;
    std::int64_t value = 0;
    int lingered = 0;

    void init(Em em) {
        em.init_mailbox(requests, arrived);
        em.invoke<detail::IStructureCache<std::int64_t>>(em.node_id(), em.to_global(requests),
                                                         std::uint64_t{8}, 4U);
    }
    void serve(Em em) {
        Request request;
        em.retrieve_item(requests, request);
        if (request.kind == Request::Kind::attach) {
            cache = request.cache;
            read_sync(em, IStructure<std::int64_t>{em.to_global(requests)}, asked, em.to_global(value), read);
        } else if (request.kind == Request::Kind::fetch) {
            incoming = request.cache;
            answer(em, late_first);
            em.drop_in(cache, Request{Request::Kind::destroy});
            em.sync(wait);
        } else {
            const bool known = em.directory().find(em.to_global(requests)) != nullptr;
            state<ArrayState>(em).right += lingered == 1000 && value == value_of(asked) && !known;
            em.sync(read);
        }
    }
    void linger(Em em) {
        if (++lingered < 1000) return em.sync(wait);
        answer(em, !late_first);
    }
    void answer(Em em, bool late) const {
        const std::vector<std::uint8_t> written = {0, late, 0, 0};
        const std::vector<std::int64_t> values = {0, late ? value_of(asked) : 0, 0, 0};
        const auto bytes = Block::pack({4, 4, asked, late}, written.data(), values.data());
        em.drop_in(incoming, std::span<const std::byte>(bytes));
    }
    void end(Em em) { em.terminate(); }
    ExclusiveFiber<&SlowOwner::serve> arrived{*this, 1};
    Fiber<&SlowOwner::linger> wait{*this, 1};
    Fiber<&SlowOwner::end> read{*this, 2};  // and the cache has ended
};

TEST(EarthIStructureCache, DoesNotEndBeforeTheLastAnswerWhicheverComesFirst) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        ArrayState state;
        run(
            state,
            seed % 2 == 0 ? [](Em em) { em.invoke<SlowOwner>(0, true); }
                          : [](Em em) { em.invoke<SlowOwner>(0, false); },
            seed, 2);
        ASSERT_EQ(state.right, 1) << "seed " << seed;
    }
}

// --- wrong use

template <auto wrong>
struct ArrayMisuser : Threaded<ArrayMisuser<wrong>> {
    IStructure<std::int64_t> array;
    std::int64_t value = 0;

    void init(Em em) { init_istructure(em, 1, em.to_global(array), 10, 4, ready); }
    void misuse(Em em) { wrong(em, array, em.to_global(value), em.to_sptr(never)); }
    void end(Em) {}
    Fiber<&ArrayMisuser::misuse> ready{*this, 1};
    Fiber<&ArrayMisuser::end> never{*this, 2};
};

using Array = IStructure<std::int64_t>;
using Target = Global<std::int64_t>;

void write_twice(Em em, Array array, Target, Sptr) {
    write_sync(em, array, 5, 1);
    write_sync(em, array, 5, 1);
}
void write_beyond(Em em, Array array, Target, Sptr) {
    write_sync(em, array, 10, 1);
}
void read_beyond(Em em, Array array, Target target, Sptr slot) {
    read_sync(em, array, 11, target, slot);
}

TEST(EarthIStructure, WrongUseIsAnError) {
    ArrayState state;
    EXPECT_THAT(error_of(state, start<ArrayMisuser<write_twice>>),
                HasSubstr("element 5 of an I-structure is written twice"));
    EXPECT_THAT(error_of(state, start<ArrayMisuser<write_beyond>>),
                HasSubstr("element 10 of an I-structure of 10"));
    EXPECT_THAT(error_of(state, start<ArrayMisuser<read_beyond>>),
                HasSubstr("element 11 of an I-structure of 10"));
}

}  // namespace
}  // namespace heddle::earth_testing
