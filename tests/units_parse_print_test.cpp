// Tests quantities with units: read as written, refused with advice, printed so that they read back exactly.
#include <gtest/gtest.h>

#include <bit>
#include <functional>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/units.hpp"

namespace heddle {
namespace {

TEST(Units, AreReadAsTheyAreWritten) {
    EXPECT_EQ(parse_time("1us"), std::chrono::microseconds(1));
    EXPECT_EQ(parse_time("1.5ms"), std::chrono::microseconds(1500));
    EXPECT_EQ(parse_time("2 s"), std::chrono::seconds(2));
    EXPECT_EQ(parse_time("1e-3s"), std::chrono::milliseconds(1));
    EXPECT_EQ(parse_time("0"), Time::zero());
    EXPECT_EQ(parse_time("0.0000005us"), Time(1));  // half a picosecond, rounded up
    EXPECT_EQ(parse_time("0.0000004us"), Time(0));
    EXPECT_EQ(parse_time("9223372036854775806ps"), Time(9223372036854775806));
    EXPECT_EQ(parse_flops("10Gf"), 10e9);
    EXPECT_EQ(parse_flops("20f"), 20);
    EXPECT_EQ(parse_bytes("4096"), 4096);
    EXPECT_EQ(parse_bytes("4KiB"), 4096);
    EXPECT_EQ(parse_bytes("64MB"), 64e6);
    EXPECT_EQ(parse_bytes("1.5MiB"), 1.5 * 1024 * 1024);
    EXPECT_EQ(parse_bandwidth("100Gbps"), 12.5e9);
    EXPECT_EQ(parse_bandwidth("12.5GBps"), 12.5e9);
    EXPECT_EQ(parse_bandwidth("1GiBps"), 1073741824.0);
    EXPECT_EQ(parse_bandwidth("0"), 0);
}

TEST(Units, ArePrintedShortly) {
    EXPECT_EQ(print_time(std::chrono::microseconds(1)), "1us");
    EXPECT_EQ(print_time(std::chrono::nanoseconds(1500)), "1.5us");
    EXPECT_EQ(print_time(std::chrono::seconds(120)), "120s");
    EXPECT_EQ(print_time(Time::zero()), "0s");
    EXPECT_EQ(print_flops(10e9), "10Gf");
    EXPECT_EQ(print_bytes(4096), "4KiB");
    EXPECT_EQ(print_bytes(64e6), "64MB");
    EXPECT_EQ(print_bytes(0), "0B");
    EXPECT_EQ(print_bandwidth(12.5e9), "100Gbps");
    EXPECT_EQ(print_bandwidth(40e9), "40GBps");
}

TEST(Units, ReadBackExactlyAsPrinted) {
    Random random(20240901);
    for (int i = 0; i < 20000; ++i) {
        const auto time = Time(static_cast<std::int64_t>((random() >> 1) >> random.below(63)));
        ASSERT_EQ(parse_time(print_time(time)), time) << print_time(time);
        // Any bits of a positive number below 1e300, and whole numbers, which are the usual case.
        const double bits = std::bit_cast<double>(random.below(std::bit_cast<std::uint64_t>(1e299)));
        const double whole = static_cast<double>(random() >> random.below(63));
        for (const double value : {bits, whole, whole * 1000, whole * 1024, whole / 8}) {
            ASSERT_EQ(parse_flops(print_flops(value)), value) << print_flops(value);
            ASSERT_EQ(parse_bytes(print_bytes(value)), value) << print_bytes(value);
            ASSERT_EQ(parse_bandwidth(print_bandwidth(value)), value) << print_bandwidth(value);
        }
    }
}

std::string units_refusal(const std::function<void()>& parse) {
    try {
        parse();
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

TEST(Units, RefuseWhatTheyCannotReadAndSayWhatIsExpected) {
    EXPECT_EQ(units_refusal([] { parse_bandwidth("100Gbp"); }),
              "unknown unit `Gbp` in `100Gbp`; did you mean `Gbps`? expected a bandwidth such as 12.5GBps "
              "(bytes) or "
              "100Gbps (bits)");
    EXPECT_EQ(units_refusal([] { parse_time("-1us"); }),
              "negative time `-1us`; expected a time such as 1us (ps, ns, us, ms, s)");
    EXPECT_EQ(units_refusal([] { parse_flops("10"); }),
              "no unit in `10`; expected flops such as 20f or 10Gf");
    EXPECT_EQ(units_refusal([] { parse_flops("10gf"); }),
              "unknown unit `gf` in `10gf`; did you mean `Gf`? expected flops such as 20f or 10Gf");
    EXPECT_EQ(units_refusal([] { parse_bytes("4kb"); }),
              "unknown unit `kb` in `4kb`; did you mean `kB`? expected a size such as 4096, 4KiB or 64MB");
    EXPECT_EQ(units_refusal([] { parse_time("soon"); }),
              "`soon` is not a time; expected a time such as 1us (ps, ns, us, ms, s)");
    EXPECT_EQ(units_refusal([] { parse_time("120000000s"); }),
              "`120000000s` is too large for a time; expected a time such as 1us (ps, ns, us, ms, s)");
    EXPECT_NE(units_refusal([] { parse_bytes("1e400"); }).find("too large"), std::string::npos);
    EXPECT_NE(units_refusal([] { parse_bytes("nan"); }).find("not a size"), std::string::npos);
    EXPECT_NE(units_refusal([] { parse_bytes(""); }).find("not a size"), std::string::npos);
    EXPECT_NE(units_refusal([] { parse_time("1e99999999999s"); }).find("too large"), std::string::npos);
    EXPECT_EQ(parse_time("1e-99999999999s"), Time::zero());
}

}  // namespace
}  // namespace heddle
