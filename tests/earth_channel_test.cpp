// Tests EARTH's channels: each item arrives once and in order, and a channel never exceeds its bound.
#include <cstdint>
#include <string>
#include <vector>

#include "model/earth/library/channel.hpp"
#include "tests/earth_library_testing.hpp"

namespace heddle::earth_testing {
namespace {

using testing::HasSubstr;

struct StreamState {
    std::uint64_t capacity = unbounded;
    int senders = 1;
    int receivers = 1;
    int items = 20;  ///< of each sender, and so many times senders / receivers of each receiver
    int taken = 0;
    std::vector<std::int64_t> received;
};

struct StreamParameters {
    Channel<std::int64_t> channel;
    Sptr done;
    std::int64_t number;
};

/// Sends `number`, `number` + 1, ...
struct StreamSender : Threaded<StreamSender, StreamParameters> {
    int sent = 0;

    void init(Em em) { send_sync(em, channel, number, taken); }
    void next(Em em) {
        auto& shared = state<StreamState>(em);
        ++shared.taken;
        if (++sent < shared.items) return send_sync(em, channel, number + sent, taken);
        em.sync(done);
        em.terminate();
    }
    Fiber<&StreamSender::next> taken{*this, 1};
};

struct StreamReceiver : Threaded<StreamReceiver, StreamParameters> {
    std::int64_t item = -1;
    int count = 0;

    void init(Em em) { receive_sync(em, channel, em.to_global(item), received); }
    void next(Em em) {
        auto& shared = state<StreamState>(em);
        shared.received.push_back(item);
        if (++count < shared.items * shared.senders / shared.receivers) return init(em);
        em.sync(done);
        em.terminate();
    }
    Fiber<&StreamReceiver::next> received{*this, 1};
};

struct StreamMain : Threaded<StreamMain> {
    Channel<std::int64_t> channel;

    void init(Em em) {
        const auto& shared = state<StreamState>(em);
        done.set(static_cast<std::uint32_t>(shared.senders + shared.receivers), 0);
        init_channel(em, 1, em.to_global(channel), shared.capacity, ready);
    }
    void begin(Em em) {
        const auto& shared = state<StreamState>(em);
        for (std::int64_t i = 0; i < shared.senders; ++i)
            em.token<StreamSender>(channel, em.to_sptr(done), 1000 * i);
        for (std::int64_t i = 0; i < shared.receivers; ++i)
            em.token<StreamReceiver>(channel, em.to_sptr(done), i);
    }
    void end(Em em) {
        destroy(em, channel);
        em.terminate();
    }
    Fiber<&StreamMain::begin> ready{*this, 1};
    Fiber<&StreamMain::end> done{*this};
};

TEST(EarthChannel, KeepsTheOrderOfASender) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        StreamState state;
        state.capacity = seed % 3;  // also unbounded
        run(state, start<StreamMain>, seed);
        ASSERT_EQ(state.received.size(), 20) << "seed " << seed;
        for (int i = 0; i < 20; ++i) ASSERT_EQ(state.received[i], i) << "seed " << seed;
    }
}

TEST(EarthChannel, BringsEachItemOnceWhoeverAsks) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        StreamState state;
        state.capacity = seed % 4;
        state.senders = 6;
        state.receivers = 4;
        state.items = 10;
        run(state, start<StreamMain>, seed);
        std::vector<std::int64_t> expected;
        for (int i = 0; i < 6; ++i)
            for (int item = 0; item < 10; ++item) expected.push_back(1000 * i + item);
        ASSERT_THAT(state.received, testing::UnorderedElementsAreArray(expected)) << "seed " << seed;
    }
}

TEST(EarthChannel, TakesAsManyAsItHolds) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        StreamState state;
        state.capacity = 3;
        state.receivers = 0;
        // Main, the sender and the channel wait when the run is over.
        run(state, start<StreamMain>, seed, 5, 3);
        ASSERT_EQ(state.taken, 3) << "seed " << seed;
        StreamState endless;
        endless.receivers = 0;
        EXPECT_THAT(error_of(endless, start<StreamMain>, seed), HasSubstr("that holds items"));
        ASSERT_EQ(endless.taken, 20) << "seed " << seed;
    }
}

TEST(EarthChannel, TakesEveryItemWithTheLargestCapacity) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        StreamState state;
        state.capacity = ~std::uint64_t{0};
        run(state, start<StreamMain>, seed);
        ASSERT_EQ(state.received.size(), 20) << "seed " << seed;
        for (int i = 0; i < 20; ++i) ASSERT_EQ(state.received[i], i) << "seed " << seed;
    }
}

// --- both ways

struct TalkState {
    std::vector<std::int64_t> answers;
};

using Asking = ChannelEnd<std::int32_t, std::int64_t>;
using Answering = ChannelEnd<std::int64_t, std::int32_t>;

struct AnswererParameters {
    Global<Global<Answering>> where;
    Sptr there;
    Global<Sptr> connected;
};

/// Squares what comes, and ends after 0.
struct Answerer : Threaded<Answerer, AnswererParameters> {
    Answering end;
    std::int32_t question = -1;

    void init(Em em) {
        em.put_sync(em.to_global(end), where, there);
        em.put_sync(em.to_sptr(made), connected, there);
    }
    void listen(Em em) { receive_sync(em, end, em.to_global(question), heard); }
    void answer(Em em) { send_sync(em, end, std::int64_t{question} * question, taken); }
    void go_on(Em em) {
        if (question != 0) return listen(em);
        em.terminate();
    }
    Fiber<&Answerer::listen> made{*this, 1};
    Fiber<&Answerer::answer> heard{*this, 1};
    Fiber<&Answerer::go_on> taken{*this, 1};
};

/// Asks for the squares of 8 down to 0, all at once.
struct TalkMain : Threaded<TalkMain> {
    Asking end;
    Global<Answering> other_end;
    Sptr other_made;
    std::int64_t answered = -1;

    void init(Em em) {
        em.invoke<Answerer>(3, em.to_global(other_end), em.to_sptr(there), em.to_global(other_made));
    }
    void connect(Em em) { init_two_way_channel(em, em.to_global(end), other_end, made); }
    void ask(Em em) {
        em.sync(other_made);
        for (std::int32_t question = 8; question >= 0; --question) send_sync(em, end, question);
        receive_sync(em, end, em.to_global(answered), got_answer);
    }
    void note(Em em) {
        state<TalkState>(em).answers.push_back(answered);
        if (answered != 0) return receive_sync(em, end, em.to_global(answered), got_answer);
        destroy(em, end);
        em.terminate();
    }
    Fiber<&TalkMain::connect> there{*this, 2};
    Fiber<&TalkMain::ask> made{*this, 1};
    Fiber<&TalkMain::note> got_answer{*this, 1};
};

TEST(EarthChannel, CarriesQuestionsAndAnswersBothWays) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        TalkState state;
        run(state, start<TalkMain>, seed);
        ASSERT_THAT(state.answers, testing::ElementsAre(64, 49, 36, 25, 16, 9, 4, 1, 0)) << "seed " << seed;
    }
}

}  // namespace
}  // namespace heddle::earth_testing
