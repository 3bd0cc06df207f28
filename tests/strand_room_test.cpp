// Tests that a run ends with an error where there is no address space for the stacks of its strands, or a
// stack is too small, and that no strand can catch it.
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <deque>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/guard_pages.hpp"
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

/// What the error says that ends a run of `strands` strands on one worker.
std::string error_of_strands(int strands, const std::function<void(Strand&, int i)>& body,
                             std::uint64_t stack_bytes) {
    runtime::Schedule schedule;
    schedule.strand_stack_bytes = stack_bytes;
    const auto backend = one_native_node(1, 1);
    const auto first = [&](Worker& worker) {
        for (int i = 1; i <= strands; ++i) Strand::start(worker, [&, i](Strand& self) { body(self, i); });
    };
    return error_of([&] {
        runtime::Execution(*backend, schedule, [&](NodeId) {
            return std::make_unique<FirstTask>(first);
        }).run();
    });
}

/// The same of five strands, with room for so many stacks. The first four are made together, and the next
/// eight.
std::string error_with_room(int stacks, const std::function<void(Strand&, int i)>& body) {
    constexpr std::uint64_t stack = 128U << 20;
    const Limit limit(static_cast<std::uint64_t>(stacks) * stack);
    return error_of_strands(5, body, stack);
}

/// Goes on after an error, which is counted.
template <class Code>
void catching(int& errors, const Code& code) {
    try {
        code();
    } catch (const Error&) {
        ++errors;
    }
}

TEST(StrandRoom, ForTheFirstOneIsMissing) {
    EXPECT_THAT(error_with_room(3, [](Strand&, int) {}), HasSubstr("no address space for 4 stacks"));
}

TEST(StrandRoom, ForTheNextOneIsMissingWhereOneEnds) {
    Event event;
    const auto body = [&](Strand& self, int i) {
        if (i != 4) self.wait(event);
    };
    EXPECT_THAT(error_with_room(6, body), HasSubstr("no address space for 8 stacks"));
}

TEST(StrandRoom, ForTheNextOneIsMissingWhereOneWaits) {
    Event event;
    int errors = 0;
    const auto body = [&](Strand& self, int) { catching(errors, [&] { self.wait(event); }); };
    EXPECT_THAT(error_with_room(6, body), HasSubstr("no address space for 8 stacks"));
    EXPECT_EQ(errors, 0);
}

TEST(StrandRoom, ForTheNextOneIsMissingWhereOneYields) {
    int errors = 0;
    const auto body = [&](Strand& self, int) {
        // Until all have begun.
        for (int i = 0; i < 100; ++i) catching(errors, [&] { self.yield(); });
    };
    EXPECT_THAT(error_with_room(6, body), HasSubstr("no address space for 8 stacks"));
    EXPECT_EQ(errors, 0);
}

/// Writes below the stack that it runs on, which has no guard page: over its mark.
void exceed_stack() {
    constexpr std::uint64_t mark = 0x6c656464696e6821;  // StrandStacks::mark
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    auto* word = reinterpret_cast<volatile std::uint64_t*>(here / 8 * 8);
    word -= 512;  // below this function's own frame
    while (*word != mark) --word;
    *word = 0;
}

/// The other strand goes on next, or begins.
TEST(StrandRoom, IsExceededByOneThatEnds) {
    std::deque<GuardPages> all;
    do {
        all.emplace_back(1);
    } while (all.back().granted());
    for (const int exceeding : {2, 1}) {
        int errors = 0;
        const auto body = [&](Strand& self, int i) {
            if (i == exceeding) return exceed_stack();
            catching(errors, [&] { self.yield(); });
        };
        EXPECT_THAT(error_of_strands(2, body, 64U << 10), HasSubstr("needed more than its stack"));
        EXPECT_EQ(errors, 0);
    }
}

/// While it lives, this process gets four more mappings and no more.
class MappingLimit {
public:
    explicit MappingLimit(std::uint64_t mappings_max) : bytes_(2 * mappings_max * page_) {
        void* const memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) throw Error("no address space for many mappings");
        memory_ = static_cast<char*>(memory);
        // Each page that differs from its neighbours makes two mappings more.
        std::size_t at = page_;
        while (::mprotect(memory_ + at, page_, PROT_NONE) == 0) at += 2 * page_;
        for (int freed = 0; freed < 2; ++freed) {
            at -= 2 * page_;
            ::mprotect(memory_ + at, page_, PROT_READ | PROT_WRITE);
        }
    }
    ~MappingLimit() { ::munmap(memory_, bytes_); }
    MappingLimit(const MappingLimit&) = delete;
    MappingLimit& operator=(const MappingLimit&) = delete;

private:
    std::size_t page_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    std::size_t bytes_;
    char* memory_ = nullptr;
};

/// The system has mappings for the second slab of stacks, and not for all of its guard pages.
TEST(StrandRoom, IsExceededWhereTheSystemRefusesAGuardPage) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers need mappings themselves";
#endif
    std::uint64_t mappings_max = 0;
    std::ifstream("/proc/sys/vm/max_map_count") >> mappings_max;
    if (mappings_max == 0 || mappings_max > 300'000) GTEST_SKIP() << "this system permits too many mappings";
    std::optional<MappingLimit> limit;
    Event event;
    int errors = 0;
    const auto body = [&](Strand& self, int i) {
        if (i == 1) limit.emplace(mappings_max);
        if (i < 12) return catching(errors, [&] { self.wait(event); });
        limit.reset();
        exceed_stack();
    };
    EXPECT_THAT(error_of_strands(12, body, 64U << 10), HasSubstr("needed more than its stack"));
    EXPECT_EQ(errors, 0);
}

}  // namespace
}  // namespace heddle::testing_strands
