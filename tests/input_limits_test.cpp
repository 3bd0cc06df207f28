// Tests the limits of readers: endless files and devices are refused at a stated size, binary files at their
// first zero byte. No control character of a file reaches a terminal.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/input_file.hpp"
#include "base/printable.hpp"
#include "tests/cli_testing.hpp"

namespace heddle {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using ::testing::Not;
using testing_cli::Said;

class Input : public testing_cli::Folder {
protected:
    static std::string refusal(const std::string& path, const InputLimits& limits = {}) {
        try {
            read_input(path, limits);
        } catch (const Error& error) {
            return error.what();
        }
        return "accepted";
    }
};

TEST_F(Input, AFileIsReadWhole) {
    const std::string text(3 << 20, 'x');
    EXPECT_EQ(read_input(file("a", text)), text);
    EXPECT_EQ(read_input(file("b", "")), "");
    EXPECT_EQ(read_input(file("c", std::string("1 2\n\0\0", 6))).size(), 6U);  // zeros at the end
    EXPECT_FALSE(read_input("/proc/self/status").empty());                     // its size is said to be 0
}

TEST_F(Input, AnEndlessDeviceIsRefusedAtAStatedSize) {
    EXPECT_THAT(
        refusal("/dev/zero", {1 << 20, 1 << 20}),
        HasSubstr("/dev/zero: has more than 1048576 bytes, the most that is read of a pipe or device"));
    EXPECT_THAT(refusal("/dev/urandom"), HasSubstr("a zero byte with more behind it"));
}

TEST_F(Input, AHugeRegularFileIsRefusedByItsSize) {
    const std::string path = file("huge", "");
    ASSERT_EQ(::truncate(path.c_str(), off_t{1} << 40), 0);
    EXPECT_THAT(refusal(path), HasSubstr("the most that is read of a file here"));
}

TEST_F(Input, ABinaryFileIsNamedWithItsLine) {
    EXPECT_THAT(refusal(file("b", std::string("one\ntwo\0three", 13))), HasSubstr("b:2: a zero byte"));
}

TEST_F(Input, EveryReaderOfACommandLineComesToAnEnd) {
    const std::string graph = file("g.stg", "0\n0 1 0\n1 1 1 0\n");
    const std::string atgc = file("a.yaml", "workload: {name: atgc, a: /dev/urandom}\n");
    for (const std::string& words :
         {"schedule " + graph + " --read /dev/zero", "partition " + graph + " --parts 2 --read /dev/urandom",
          std::string("schedule --format dot /dev/zero --scheduler heft --procs 2"),
#ifdef HEDDLE_SIM
          "run " + file("p.yaml", "workload: {name: fib, n: 5}\nbackend: sim\nplatform: {file: /dev/zero}\n"),
#endif
          "run " + atgc}) {
        // Memory is bounded: 1.5 GB of addresses are enough for the program and the text.
        const Said said = binary(words);
        EXPECT_EQ(said.code, 2) << words << "\n" << said.err;
        EXPECT_THAT(said.err, testing::AnyOf(HasSubstr("the most that is read"), HasSubstr("a zero byte")))
            << words;
    }
}

TEST(Printable, ControlCharactersAndBrokenUtf8BecomeEscapes) {
    EXPECT_EQ(printable("plain, and \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"),
              "plain, and \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
    EXPECT_EQ(printable("\x1b[31m\a\n\r\t"), "\\x1b[31m\\x07\\n\\r\\t");
    EXPECT_EQ(printable("\xff\xc3(\xe2\x82"), "\\xff\\xc3(\\xe2\\x82");
    EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");           // C1: the other way to begin an escape
    EXPECT_EQ(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae");  // text runs backwards behind it
    EXPECT_EQ(printable("\xc0\xaf\xed\xa0\x80"), "\\xc0\\xaf\\xed\\xa0\\x80");  // long form, surrogate
    EXPECT_EQ(printable(printable("\x1b")), printable("\x1b"));
    EXPECT_EQ(excerpt(std::string(100, 'a'), 5), "aaaaa...");
    EXPECT_EQ(excerpt("aaaaa", 5), "aaaaa");
    EXPECT_EQ(printable_lines("a\x1b\nb\n"), "a\\x1b\nb\n");
}

TEST(Printable, ErrorsHoldNothingThatATerminalObeys) {
    const Error error("\x1b[2J" + std::string(15000, 'q'), "\x9b", {"\x07.yaml", 3});
    for (const char* at = error.what(); *at != '\0'; ++at) EXPECT_GE(static_cast<unsigned char>(*at), 0x20);
    EXPECT_LT(std::string(error.what()).size(), 1000U);
    EXPECT_THAT(error.what(), HasSubstr("\\x1b[2J"));
}

TEST_F(Input, NamesReachATerminalWithoutControlCharacters) {
    const std::string yaml = file("n.yaml", "name: \"\\e[31mred\"\nworkload: {name: fib, n: 5}\n");
    const Said run = binary("run " + yaml);
    EXPECT_EQ(run.code, 2) << run.out;
    EXPECT_THAT(run.out + run.err, Not(HasSubstr("\x1b")));
    const std::string dot =
        file("g.dot", "digraph { \"a\x1b[1m\" [Weight=1]; b [Weight=1]; \"a\x1b[1m\" -> b [Weight=1] }\n");
    const Said schedule = binary("schedule " + dot + " --scheduler heft --procs 2 --gantt");
    EXPECT_EQ(schedule.code, 0) << schedule.err;
    EXPECT_THAT(schedule.out, Not(HasSubstr("\x1b")));
    const std::string cycle = file("c.dot",
                                   "digraph { \"a\x1b[1m\" [Weight=1]; b [Weight=1]; \"a\x1b[1m\" -> b "
                                   "[Weight=1]; b -> \"a\x1b[1m\" [Weight=1] }\n");
    EXPECT_THAT(binary("schedule " + cycle + " --scheduler heft --procs 2").err, Not(HasSubstr("\x1b")));
    const std::string fasta = file("a.fa", std::string(">a\nAC\x1bGT\n"));
    EXPECT_THAT(binary("run " + file("f.yaml", "workload: {name: atgc, a: a.fa, b: a.fa}\n")).err,
                HasSubstr("\\x1b"));
}

}  // namespace
}  // namespace heddle
