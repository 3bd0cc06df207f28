// Tests that a run ends with an error where there is no address space for the stacks of its strands.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>

#include "tests/strand_testing.hpp"

namespace heddle::testing_strands {
namespace {

using runtime::Event;
using ::testing::HasSubstr;

/// While it lives, this process gets `more` bytes of address space and no more.
class Limit {
public:
    explicit Limit(std::uint64_t more) {
        getrlimit(RLIMIT_AS, &before_);
        std::uint64_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        rlimit limit = before_;
        limit.rlim_cur = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) + more;
        setrlimit(RLIMIT_AS, &limit);
    }
    ~Limit() { setrlimit(RLIMIT_AS, &before_); }
    Limit(const Limit&) = delete;
    Limit& operator=(const Limit&) = delete;

private:
    rlimit before_{};
};

/// Of so many strands with a stack all wait but the last, which ends. Then another one needs a stack.
std::string error_after(int strands, bool last_ends) {
    return error_of([=] {
        // The first four stacks are made together, and the next eight.
        constexpr std::uint64_t stack = 128U << 20;
        runtime::Schedule schedule;
        schedule.strand_stack_bytes = stack;
        const auto backend = one_native_node(1, 1);
        Event event;
        const auto first = [&](Worker& worker) {
            for (int i = 1; i <= strands + 1; ++i) {
                Strand::start(worker, [&, i](Strand& self) {
                    if (i != strands || !last_ends) self.wait(event);
                });
            }
        };
        const Limit limit(6 * stack);
        runtime::Execution(*backend, schedule, [&](NodeId) {
            return std::make_unique<FirstTask>(first);
        }).run();
    });
}

TEST(StrandRoom, ForTheNextOneIsMissingWhereOneEnds) {
    EXPECT_THAT(error_after(4, true), HasSubstr("no address space for 8 stacks"));
}

TEST(StrandRoom, ForTheNextOneIsMissingWhereOneWaits) {
    EXPECT_THAT(error_after(4, false), HasSubstr("no address space for 8 stacks"));
}

}  // namespace
}  // namespace heddle::testing_strands
