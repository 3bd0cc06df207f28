// Tests output files: only regular files are replaced, whole or not at all; links are followed; devices,
// FIFOs and standard output are written into.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/output_file.hpp"
#include "tests/cli_testing.hpp"

namespace heddle {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using testing_cli::Said;

class Output : public testing_cli::Folder {
protected:
    std::size_t entries() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
    }
    static std::string refusal(const std::string& path) {
        try {
            write_file(path, "new");
        } catch (const Error& error) {
            return error.what();
        }
        return "accepted";
    }
};

TEST_F(Output, ARegularFileAppearsWholeAndKeepsItsPermissions) {
    const std::string path = file("a.txt", "old");
    fs::permissions(path, fs::perms(0640));
    {
        OutputFile output(path);
        output.write("ne");
        EXPECT_EQ(read(path), "old");
        output.write("w");
        output.commit();
    }
    EXPECT_EQ(read(path), "new");
    EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));
    EXPECT_EQ(entries(), 1U);
}

TEST_F(Output, WithoutCommitNothingChangesAndNothingIsLeft) {
    const std::string path = file("a.txt", "old");
    { OutputFile(path).write("new"); }
    { OutputFile(folder / "b.txt").write("new"); }
    EXPECT_EQ(read(path), "old");
    EXPECT_EQ(entries(), 1U);
}

TEST_F(Output, LinksAreFollowedAndStay) {
    fs::create_directory(folder / "in");
    file("in/target", "old");
    fs::create_symlink("in/target", folder / "link");
    fs::create_symlink("link", folder / "second");
    write_file(folder / "second", "new");
    EXPECT_TRUE(fs::is_symlink(folder / "second"));
    EXPECT_TRUE(fs::is_symlink(folder / "link"));
    EXPECT_EQ(read(folder / "in" / "target"), "new");

    fs::create_symlink("in/fresh", folder / "dangling");
    write_file(folder / "dangling", "made");
    EXPECT_TRUE(fs::is_symlink(folder / "dangling"));
    EXPECT_EQ(read(folder / "in" / "fresh"), "made");

    fs::create_symlink("b", folder / "a");
    fs::create_symlink("a", folder / "b");
    EXPECT_THAT(refusal(folder / "a"), HasSubstr("Too many levels of symbolic links"));
}

TEST_F(Output, OutputsOfOneNameDoNotMix) {
    const std::string path = folder / "a.txt";
    {
        OutputFile first(path), second(path);
        first.write("first text");
        second.write("second");
        first.commit();
        EXPECT_EQ(read(path), "first text");
        second.commit();
    }
    EXPECT_EQ(read(path), "second");
    EXPECT_EQ(entries(), 1U);
    // What a killed process with the same number has left is not written into.
    file(fmt::format("a.txt.{}.tmp", ::getpid()), "left");
    write_file(path, "third");
    EXPECT_EQ(read(path), "third");
    EXPECT_EQ(entries(), 2U);
}

TEST_F(Output, ASignalThatEndsTheProcessLeavesNoUnfinishedFile) {
    const std::string path = file("a.txt", "old");
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        const pid_t child = ::fork();
        if (child == 0) {
            std::signal(SIGHUP, SIG_IGN);  // as nohup does
            OutputFile output(path), other(folder / "b.txt");
            { OutputFile finished(folder / "c.txt"); }
            output.write("new");
            const pid_t forked = ::fork();
            if (forked == 0) ::raise(SIGTERM);  // whose files these are not
            ::waitpid(forked, nullptr, 0);
            other.write("new");
            if (entries() != 3) ::_exit(3);
            ::raise(signal);
            ::_exit(entries() == 3 ? 0 : 4);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        if (signal != SIGHUP) {
            EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
            EXPECT_EQ(entries(), 1U);
        } else {
            EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
        }
    }
    EXPECT_EQ(read(path), "old");
}

TEST_F(Output, OutputsAreKnownToBeOneFileThroughLinksBeforeItExists) {
    fs::create_directory(folder / "in");
    fs::create_symlink("in/x", folder / "link");
    const std::string x = folder / "in" / "x";
    for (const bool exists : {false, true}) {
        if (exists) file("in/x", "text");
        EXPECT_TRUE(same_file(x, folder / "link"));
        EXPECT_TRUE(same_file(x, folder / "in" / ".." / "in" / "x"));
        EXPECT_FALSE(same_file(x, folder / "x"));
    }
    EXPECT_FALSE(same_file("/dev/null", "/dev/null"));
    EXPECT_FALSE(same_file("/dev/stdout", "/dev/stdout"));
    EXPECT_FALSE(same_file(folder / "no" / "x", folder / "no" / "x"));
}

TEST_F(Output, AFifoIsWrittenInto) {
    const std::string path = folder / "fifo";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
    write_file(path, "through");
    char text[16] = {};
    EXPECT_EQ(::read(reader, text, sizeof text), 7);
    ::close(reader);
    EXPECT_STREQ(text, "through");
    EXPECT_TRUE(fs::is_fifo(path));
}

TEST_F(Output, ADeviceIsWrittenIntoAndStaysADevice) {
    const std::string path = folder / "null";
    if (::mknod(path.c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) GTEST_SKIP() << "only root makes devices";
    if (::access(path.c_str(), W_OK) != 0 || ::open(path.c_str(), O_WRONLY) < 0)
        GTEST_SKIP() << "this file system allows no devices";
    write_file(path, "gone");
    const Said said = binary("schedule fft:points=4 --scheduler heft --procs 2 --out " + path);
    EXPECT_EQ(said.code, 0) << said.err;
    const Said traced =
        binary("run " HEDDLE_SOURCE_DIR "/configs/fib.yaml --set workload.n=5 --trace " + path);
    EXPECT_TRUE(fs::is_character_file(path)) << traced.err;
}

TEST_F(Output, StandardOutputIsWrittenIntoInOrder) {
    const Said said = binary("schedule fft:points=4 --scheduler heft --procs 2 --out /dev/stdout");
    EXPECT_EQ(said.code, 0) << said.err;
    EXPECT_THAT(said.out, testing::StartsWith("{"));
    EXPECT_THAT(said.out, HasSubstr("\"placement\""));
    EXPECT_THAT(said.out, HasSubstr("makespan  "));  // the table comes behind it
    fs::create_symlink("/proc/self/fd/1", folder / "stdout");
    const Said linked =
        binary("partition fft:points=4 --partitioner block --parts 2 --out " + (folder / "stdout").string());
    EXPECT_EQ(linked.code, 0) << linked.err;
    EXPECT_TRUE(fs::is_symlink(folder / "stdout"));
}

TEST_F(Output, PlacesThatCannotBeWrittenAreNamed) {
    EXPECT_THAT(refusal(folder), HasSubstr("Is a directory"));
    EXPECT_THAT(refusal(folder / "no" / "x"),
                HasSubstr("(No such file or directory); make the folder " + (folder / "no").string()));
    EXPECT_THAT(refusal(""), HasSubstr("cannot be written to"));
    EXPECT_THAT(refusal("/dev/full"), HasSubstr("No space left on device"));
    EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(Output, ALongNameIsWritten) {
    const std::string name(255, 'n');
    write_file(folder / name, "text");
    EXPECT_EQ(read(folder / name), "text");
    EXPECT_EQ(entries(), 1U);
}

TEST_F(Output, AnAlignmentDoesNotReplaceItsInput) {
    const std::string a = file("a.fa", ">a\nACGTACGT\n"), b = file("b.fa", ">b\nACGTTCGT\n");
    fs::create_symlink("a.fa", folder / "link");
    for (const std::string output : {"a.fa", "./b.fa", "link", "run.yaml"}) {
        const std::string yaml =
            file("run.yaml", "workload: {name: atgc, a: a.fa, b: b.fa, output: " + output + "}\n");
        const Said said = testing_cli::heddle({"run", yaml});
        EXPECT_EQ(said.code, 2) << output;
        EXPECT_THAT(said.err, HasSubstr("which the run reads")) << output;
    }
    EXPECT_EQ(read(a), ">a\nACGTACGT\n");
    const std::string yaml = file("run.yaml", "workload: {name: atgc, a: a.fa, b: b.fa, output: out.txt}\n");
    EXPECT_EQ(testing_cli::heddle({"run", yaml}).code, 0);
    EXPECT_THAT(read(folder / "out.txt"), HasSubstr("cigar"));
}

}  // namespace
}  // namespace heddle
