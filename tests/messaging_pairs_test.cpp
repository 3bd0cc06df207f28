// Tests the workloads ping_pong and stream between handlers: they refuse what only threads have. Between
// threads they notice bytes that do not arrive.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "tests/placement_testing.hpp"
#include "workloads/thread_pairs.hpp"

namespace heddle {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_placement::Stated;

std::string refused(const std::string& workload, const std::string& setting, const std::string& value) {
    try {
        (void)Stated{workload, {{"between", "handlers"}, {"bytes", "24"}, {setting, value}}}.make();
    } catch (const Error& error) {
        return error.what();
    }
    return "it was made";
}

TEST(PairsBetweenHandlers, RefuseWhatOnlyThreadsHave) {
    for (const char* const workload : {"ping_pong", "stream"}) {
        EXPECT_THAT(refused(workload, "pairs", "2"), HasSubstr("set workload.pairs to 1"));
        EXPECT_THAT(refused(workload, "carrier", "dispatcher"),
                    HasSubstr("set workload.carrier to endpoints"));
        EXPECT_THAT(refused(workload, "bytes", "23"),
                    AllOf(HasSubstr("messages of 23 bytes"), HasSubstr("set workload.bytes to 24")));
        EXPECT_EQ(refused(workload, "dma", "yes"), "it was made");
    }
}

TEST(PairsBetweenHandlers, SayWhatIsChecked) {
    for (const char* const workload : {"ping_pong", "stream"}) {
        inprocess::InprocessBackend backend({2, 1, 1});
        const Stated stated{workload, {{"between", "handlers"}, {"bytes", "24"}, {"messages", "20"}}};
        const auto ran = testing_placement::run(backend, stated, testing_placement::cluster(2, 1), {});
        ASSERT_TRUE(ran.right()) << ran.verdict.reason;
        EXPECT_EQ(ran.verdict.reason, "each message has its number");
    }
}

/// A thread sends itself a letter, and one that has only the first bytes.
class TwoLetters final : public messaging::MessagingProgram {
public:
    explicit TwoLetters(bool dma) : dma_(dma) {}

    void main(messaging::Thread& self) override {
        constexpr std::uint64_t bytes = 100;
        for (const std::uint64_t sent : {bytes, bytes / 2}) {
            Letter letter(sent);
            Letter received(bytes, Letter::Content::blank);
            messaging::Handle send = letter.begin_send(self, self.id(), dma_);
            received.receive(self, {}, dma_);
            self.test_handle(send, messaging::Mode::blocking);
            intact_.push_back(received.intact());
        }
    }
    runtime::Answer answer() const override {
        return {{"whole", intact_.at(0) ? 1.0 : 0.0}, {"half", intact_.at(1) ? 1.0 : 0.0}};
    }

private:
    using Letter = workloads::pairs::Letter;

    bool dma_;
    std::vector<bool> intact_;
};

// The receiver's buffer had held the expected bytes beforehand.
TEST(PairsBetweenThreads, NoticeBytesThatDoNotArrive) {
    for (const bool dma : {false, true}) {
        inprocess::InprocessBackend backend({1, 1, 1});
        runtime::Execution execution(backend, {}, [&](NodeId) { return std::make_unique<TwoLetters>(dma); });
        const runtime::Answer answer = execution.run().answer;
        ASSERT_GE(answer.size(), 2U);
        EXPECT_EQ(answer[0].value, 1) << dma;
        EXPECT_EQ(answer[1].value, 0) << dma;
    }
}

// Fewer messages than a window, as many, and a rest.
TEST(PairsBetweenThreads, FindTheBytesThatWereSent) {
    for (const char* const workload : {"ping_pong", "stream"}) {
        for (const char* const messages : {"20", "64", "100"}) {
            for (const char* const dma : {"no", "yes"}) {
                inprocess::InprocessBackend backend({2, 1, 1});
                const Stated stated{workload, {{"bytes", "100"}, {"messages", messages}, {"dma", dma}}};
                const auto ran =
                    testing_placement::run(backend, stated, testing_placement::cluster(2, 1), {});
                ASSERT_TRUE(ran.right()) << ran.verdict.reason;
                EXPECT_EQ(ran.verdict.reason,
                          "each message has its number, and the last ones the bytes that were sent");
            }
        }
    }
}

}  // namespace
}  // namespace heddle
