// Tests which faults fetch other pages too: those of loops that use several pages in turn. The history of
// faults alone is tested here, and with pages that come and leave in dsm_faults_test.cpp.
#include "model/dsm/fault_history.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace heddle::dsm {
namespace {

constexpr std::uint64_t bytes_of_page = 4096;

/// A letter is a page.
class FaultingLoop {
public:
    /// The loop runs once and faults at each letter. Returns the pages that each fault fetched, in order.
    /// Each fault of an iteration is at another byte, and so are those of the next iteration.
    std::vector<std::string> iterate(const std::string& pages) {
        std::vector<std::string> fetched;
        for (const char page : pages) {
            const auto number = static_cast<std::uint64_t>(page);
            std::string together;
            for (const FaultedPage& each : history_.begin(
                     nullptr, {number, number * bytes_of_page + byte_++, runtime::Access::write}, {}))
                together += static_cast<char>(each.page);
            std::ranges::sort(together);
            fetched.push_back(together);
            history_.end(nullptr, {});
        }
        return fetched;
    }

private:
    FaultHistory history_;
    std::uint64_t byte_ = 0;
};

/// As `a[i] += b[i]; a[i] *= c[i]` does, whose pages are used in the order b a c a.
TEST(FaultHistory, OfALoopThatUsesAPageTwiceNamesAllPagesFromTheThirdIterationOn) {
    for (const std::string order : {"xy", "xyz", "wxyz", "xyxz", "xyzy", "xyzwy", "xyxzxw"}) {
        const std::set<char> pages(order.begin(), order.end());
        FaultingLoop loop;
        loop.iterate(order);
        loop.iterate(order);
        for (int iteration = 3; iteration <= 10; ++iteration)
            EXPECT_THAT(loop.iterate(order), testing::Each(std::string(pages.begin(), pages.end())))
                << order << ", iteration " << iteration;
    }
}

TEST(FaultHistory, DoesNotNameAPageThatCameOnce) {
    FaultingLoop loop;
    loop.iterate("a");
    for (int iteration = 1; iteration <= 10; ++iteration)
        for (const std::string& together : loop.iterate("xy"))
            EXPECT_THAT(together, testing::AnyOf("", "xy")) << "iteration " << iteration;
}

/// A loop that comes to the end of a page goes on with the next one.
TEST(FaultHistory, ForgetsAPageThatTheLoopHasLeft) {
    FaultingLoop loop;
    for (int iteration = 0; iteration < 10; ++iteration) loop.iterate("xy");
    for (int iteration = 0; iteration < 4; ++iteration) loop.iterate("zy");
    for (int iteration = 0; iteration < 10; ++iteration)
        EXPECT_THAT(loop.iterate("zy"), testing::Each(std::string("yz")));
}

}  // namespace
}  // namespace heddle::dsm
