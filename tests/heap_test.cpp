// Tests that memory which was used once is not given back to the system.
#include "host/heap.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace heddle::host {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;
constexpr std::size_t blocks = 32;

long faults_of(const std::function<void()>& code) {
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    code();
    getrusage(RUSAGE_SELF, &after);
    return after.ru_minflt - before.ru_minflt;
}

void use_blocks() {
    std::vector<std::unique_ptr<char[]>> all;
    for (std::size_t i = 0; i < blocks; ++i) {
        all.push_back(std::make_unique_for_overwrite<char[]>(block_bytes));
        std::memset(all.back().get(), static_cast<int>(i), block_bytes);
    }
}

TEST(Heap, FreedMemoryIsUsedAgainWithoutFaults) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer has a heap of its own";
#endif
    keep_freed_memory();
    use_blocks();
    const long pages = static_cast<long>(blocks * block_bytes / 4096);
    for (int round = 0; round < 3; ++round) EXPECT_LT(faults_of(use_blocks), pages / 10) << round;
}

constexpr const char* tunables = "GLIBC_TUNABLES";

/// The variable after this process has asked for huge pages for its children, where it was `given`.
std::string tunables_after(const char* given) {
    if (given) {
        ::setenv(tunables, given, 1);
    } else {
        ::unsetenv(tunables);
    }
    use_huge_pages(nullptr);
    const char* const after = std::getenv(tunables);
    return after ? after : "";
}

TEST(Heap, AsksForHugePagesBesideWhatTheUserHasAskedFor) {
    if (tunables_after(nullptr).empty())
        GTEST_SKIP() << "huge pages are always there, never, or not for this heap";
    EXPECT_EQ(tunables_after(nullptr), "glibc.malloc.hugetlb=1");
    EXPECT_EQ(tunables_after("glibc.malloc.check=1"), "glibc.malloc.check=1:glibc.malloc.hugetlb=1");
    EXPECT_EQ(tunables_after("glibc.malloc.hugetlb=0"), "glibc.malloc.hugetlb=0");
}

}  // namespace
}  // namespace heddle::host
