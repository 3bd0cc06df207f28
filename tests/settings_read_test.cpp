// Tests that a setting is read when it is stated: a bad value is refused at once, with its place.
#include <gtest/gtest.h>

#include <functional>

#include "base/settings.hpp"

namespace heddle {
namespace {

Settings example() {
    return Settings({{"n", SettingKind::integer, "30", "how many", {}, 0, 1000},
                     {"share", SettingKind::number, "0.5", "which part", {}},
                     {"cost", SettingKind::flops, "20f", "of one call", {}, 0},
                     {"size", SettingKind::bytes, "4KiB", "of a message", {}, 1},
                     {"wait", SettingKind::time, "1us", "between two", {}},
                     {"loud", SettingKind::boolean, "false", "say more", {}},
                     {"label", SettingKind::text, "", "any words", {}},
                     {"amount", SettingKind::choice, "one", "how much", {"one", "half"}}});
}

std::string settings_refusal(const std::function<void()>& act) {
    try {
        act();
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

TEST(Settings, HoldTheirDefaultsUntilStated) {
    Settings settings = example();
    EXPECT_EQ(settings.integer("n"), 30);
    EXPECT_EQ(settings.number("share"), 0.5);
    EXPECT_EQ(settings.number("cost"), 20);
    EXPECT_EQ(settings.number("size"), 4096);
    EXPECT_EQ(settings.time("wait"), std::chrono::microseconds(1));
    EXPECT_FALSE(settings.boolean("loud"));
    EXPECT_EQ(settings.text("label"), "");
    EXPECT_EQ(settings.text("amount"), "one");
    EXPECT_FALSE(settings.stated("n"));
    settings.set("n", "7", {"a.yaml", 3});
    settings.set("loud", "true");
    EXPECT_EQ(settings.integer("n"), 7);
    EXPECT_TRUE(settings.boolean("loud"));
    EXPECT_TRUE(settings.stated("n"));
    EXPECT_EQ(settings.where("n").line, 3);
}

TEST(Settings, RefuseAnUnknownNameWithTheNearestKnownOne) {
    Settings settings = example();
    EXPECT_EQ(
        settings_refusal([&] {
            settings.set("amuont", "one", {"a.yaml", 4});
        }),
        "a.yaml:4: unknown key \"amuont\"; did you mean \"amount\"? known: n, share, cost, size, wait, loud, "
        "label, amount");
    EXPECT_EQ(settings_refusal([&] { settings.set("zzzzzzzz", "one"); }),
              "unknown key \"zzzzzzzz\"; known: n, share, cost, size, wait, loud, label, amount");
}

TEST(Settings, RefuseAValueOfTheWrongKindOrOutOfRange) {
    Settings settings = example();
    const Location at{"a.yaml", 9};
    EXPECT_EQ(settings_refusal([&] { settings.set("n", "many", at); }),
              "a.yaml:9: n: expected a whole number, found `many`; expected 0 to 1000");
    EXPECT_EQ(settings_refusal([&] { settings.set("n", "3.5", at); }),
              "a.yaml:9: n: expected a whole number, found `3.5`; expected 0 to 1000");
    EXPECT_EQ(settings_refusal([&] { settings.set("n", "-1", at); }),
              "a.yaml:9: n: -1 is negative; expected 0 to 1000");
    EXPECT_EQ(settings_refusal([&] { settings.set("size", "0", at); }),
              "a.yaml:9: size: 0 is out of range; expected 1B or more; the default is 4KiB");
    EXPECT_EQ(settings_refusal([&] { settings.set("share", "nan", at); }),
              "a.yaml:9: share: expected a number, found `nan`; the default is 0.5");
    EXPECT_EQ(settings_refusal([&] { settings.set("n", "4294967301", at); }),
              "a.yaml:9: n: 4294967301 is out of range; expected 0 to 1000");
    EXPECT_EQ(settings_refusal([&] { settings.set("n", "18446744073709551616", at); }),
              "a.yaml:9: n: 18446744073709551616 is out of range; expected 0 to 1000");
    EXPECT_EQ(settings_refusal([&] { settings.set("loud", "yes", at); }),
              "a.yaml:9: loud: expected true or false, found `yes`; the default is false");
    EXPECT_EQ(settings_refusal([&] { settings.set("wait", "5", at); }),
              "a.yaml:9: wait: no unit in `5`; expected a time such as 1us (ps, ns, us, ms, s)");
    EXPECT_EQ(settings_refusal([&] { settings.set("amount", "halve", at); }),
              "a.yaml:9: amount: unknown value \"halve\"; did you mean \"half\"? known: one, half");
    EXPECT_FALSE(settings.stated("n"));  // a refused value leaves no trace
}

}  // namespace
}  // namespace heddle
