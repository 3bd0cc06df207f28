// Tests the states that execution models keep for a node or worker. Each is made once. They are reported in
// an order that does not depend on linking.
#include "runtime/core/states.hpp"

#include <gtest/gtest.h>

#include "runtime/run/report.hpp"

namespace heddle::runtime {
namespace {

struct Owner {};

template <char name>
struct Named final : State<Owner> {
    explicit Named(Owner& /*owner*/) {}
    void report(NodeReport& to) const override { to.answer.push_back({std::string(1, name), 1}); }
};

TEST(States, AreMadeOnce) {
    Owner owner;
    States<Owner> states;
    EXPECT_EQ(&states.get<Named<'z'>>(owner), &states.get<Named<'z'>>(owner));
}

TEST(States, ReportByTheNamesOfTheirTypes) {
    Owner owner;
    States<Owner> states;
    states.get<Named<'z'>>(owner);
    states.get<Named<'m'>>(owner);
    states.get<Named<'a'>>(owner);
    NodeReport report;
    states.report(report);
    ASSERT_EQ(report.answer.size(), 3U);
    // In names of types the letters are their codes: a is 97, m is 109, z is 122.
    EXPECT_EQ(report.answer[0].name + report.answer[1].name + report.answer[2].name, "mza");
}

}  // namespace
}  // namespace heddle::runtime
