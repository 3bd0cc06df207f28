// Tests how the processes of a job step become the nodes of one run. They agree on a key that the launcher
// does not see. A value that was changed on its way is refused.
#include "runtime/native/job_start.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <barrier>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "tests/native_testing.hpp"

namespace heddle::native {
namespace {

/// The launcher of several processes, which are threads here.
struct Launcher {
    explicit Launcher(NodeId count) : processes(count), meeting(count) {}

    NodeId processes;
    std::barrier<> meeting;
    std::mutex mutex;
    std::map<std::pair<NodeId, std::string>, std::string> values;
};

class Space final : public JobSpace {
public:
    Space(Launcher& launcher, NodeId rank) : launcher_(launcher), rank_(rank) {}

    NodeId rank() const override { return rank_; }
    NodeId processes() const override { return launcher_.processes; }
    void put(const std::string& key, const std::string& value) override {
        EXPECT_LE(value.size(), value_max);
        EXPECT_EQ(value.find_first_of(" =;\n"), std::string::npos) << value;
        const std::lock_guard lock(launcher_.mutex);
        launcher_.values[{rank_, key}] = value;
    }
    void exchange() override { launcher_.meeting.arrive_and_wait(); }
    std::string get(NodeId from, const std::string& key) override {
        const std::lock_guard lock(launcher_.mutex);
        return launcher_.values[{from, key}];
    }

private:
    Launcher& launcher_;
    NodeId rank_;
};

TEST(JobStart, ProcessesAgreeOnAKeyThatTheLauncherDoesNotSee) {
    Launcher launcher(3);
    const std::vector<std::string> hosts{"localhost", "localhost", "localhost"};
    std::vector<JobRun> runs(3);
    std::vector<std::thread> threads;
    for (NodeId rank = 0; rank < 3; ++rank) {
        threads.emplace_back([&, rank] {
            Space space(launcher, rank);
            runs[rank] = start_by_job(space, hosts[rank]);
        });
    }
    for (std::thread& thread : threads) thread.join();
    const Key key = runs[0].membership.credentials.key_with(1).value();
    for (NodeId rank = 0; rank < 3; ++rank) {
        const Membership& self = runs[rank].membership;
        EXPECT_EQ(self.rank, rank);
        EXPECT_EQ(self.nodes, 3u);
        EXPECT_EQ(self.credentials.key_with(0), key);
        EXPECT_EQ(self.rendezvous, runs[0].rendezvous->address());
        EXPECT_EQ(self.local_rank, rank);
        EXPECT_EQ(self.local_count, 3u);
    }
    EXPECT_NE(key, Key{});
    for (const auto& [name, value] : launcher.values)
        EXPECT_EQ(value.find(text_of(key)), std::string::npos) << name.second;
}

TEST(JobStart, ProcessesWithCoresOfTheirOwnShareNone) {
    const auto shares = [](const std::vector<unsigned>& first_processors) {
        Launcher launcher(2);
        std::vector<JobRun> runs(2);
        std::vector<std::thread> threads;
        for (NodeId rank = 0; rank < 2; ++rank) {
            threads.emplace_back([&, rank] {
                Space space(launcher, rank);
                host::ProcessorSet processors;
                for (unsigned i = 0; i < 6; ++i) processors.set(first_processors[rank] + i);
                runs[rank] = start_by_job(space, "localhost", {}, processors);
            });
        }
        for (std::thread& thread : threads) thread.join();
        std::vector<std::uint32_t> counts;
        for (const JobRun& run : runs) {
            EXPECT_EQ(run.membership.local_count, 2u);
            counts.push_back(run.membership.core_share().count);
        }
        return counts;
    };
    EXPECT_THAT(shares({0, 6}), testing::ElementsAre(1, 1));
    EXPECT_THAT(shares({2041, 2}), testing::ElementsAre(1, 1));
    EXPECT_THAT(shares({6, 6}), testing::ElementsAre(2, 2));
    EXPECT_THAT(shares({0, 5}), testing::ElementsAre(2, 2)) << "some of the same";
}

// To another host 0.0.0.0 is that host itself.
TEST(JobStart, NoProcessIsToldToMeetAtAWildcard) {
    for (const std::string wildcard : {"0.0.0.0", "::"}) {
        Launcher launcher(1);
        Space space(launcher, 0);
        const JobRun run = start_by_job(space, "localhost", {.address = wildcard});
        const std::string told = launcher.values[{0, "heddle-meet"}];
        EXPECT_TRUE(told.starts_with("127.0.0.1:")) << told;
        EXPECT_EQ(run.membership.rendezvous, told);
    }
}

TEST(JobStart, AProcessThatCannotTakePartIsNamed) {
    Launcher launcher(2);
    std::thread other([&] {
        Space space(launcher, 1);
        space.put("heddle-host", "h7");
        space.put("heddle-public", "failed");
        space.exchange();
    });
    Space space(launcher, 0);
    try {
        (void)start_by_job(space, "localhost");
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.message(), testing::HasSubstr("node 1, on h7"));
    }
    other.join();
}

// The launcher speaks PMI-1 here, and answers `barrier_in` only when all processes have asked.
TEST(JobStart, AnExchangeTakesTheStatedTime) {
    auto [own, launcher_end] = connected_pair();
    setenv("PMI_RANK", "0", 1);
    setenv("PMI_SIZE", "2", 1);
    std::thread launcher([end = launcher_end.get()] {
        std::string line;
        for (char byte = 0; read(end, &byte, 1) == 1;) {
            if (byte != '\n') {
                line.push_back(byte);
                continue;
            }
            const std::string answer = line.starts_with("cmd=init")   ? "cmd=response_to_init rc=0\n"
                                       : line == "cmd=get_my_kvsname" ? "cmd=my_kvsname kvsname=space rc=0\n"
                                                                      : "";
            (void)write_all(end, bytes_of(answer), soon());
            line.clear();
        }
    });
    const int descriptor = dup(own.get());
    own.reset();  // the launcher sees the end when the space closes its descriptor
    const auto begin = Clock::now();
    {
        const auto space = open_pmi_space(descriptor, std::chrono::milliseconds(300));
        EXPECT_THAT(error_of([&] { space->exchange(); }), testing::HasSubstr("did not come in time"));
    }
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds(5));
    launcher.join();
    unsetenv("PMI_RANK");
    unsetenv("PMI_SIZE");
}

TEST(JobStart, OnlyTheReceiverOpensAKeyAndOnlyFromItsSender) {
    const KeyPair sender = make_key_pair();
    const KeyPair receiver = make_key_pair();
    const KeyPair other = make_key_pair();
    const Key key = make_key();
    const std::string sealed = seal_key(key, sender, text_of(receiver.shown));
    EXPECT_EQ(open_key(sealed, receiver, text_of(sender.shown)), key);
    EXPECT_THROW(open_key(sealed, other, text_of(sender.shown)), Error);
    EXPECT_THROW(open_key(sealed, receiver, text_of(other.shown)), Error) << "from another sender";
    for (std::size_t i = 0; i < sealed.size(); ++i) {
        std::string changed = sealed;
        changed[i] = changed[i] == '0' ? '1' : '0';
        EXPECT_THROW(open_key(changed, receiver, text_of(sender.shown)), Error) << i;
    }
    EXPECT_THROW(open_key("", receiver, text_of(sender.shown)), Error);
    EXPECT_THROW(open_key(sealed, receiver, "x"), Error);
    EXPECT_THROW(seal_key(key, sender, "failed"), Error);
}

}  // namespace
}  // namespace heddle::native
