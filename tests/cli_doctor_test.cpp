// Tests what `heddle doctor --hosts` makes of the answers of hosts: which limits prevent a run, and which
// line of a host is its answer.
#include <gmock/gmock.h>

#include <map>

#include "cli/doctor_hosts.hpp"
#include "runtime/native/launch.hpp"

namespace heddle::cli {
namespace {

using ::testing::HasSubstr;

/// A host without any oddity, but for how many files it lets a process open.
DoctorJson host_that_allows(std::uint64_t files) {
    return {{"host", "a"},      {"build", "b"}, {"kernel", "6.1"},         {"cores", 2},
            {"quota", nullptr}, {"load", 0.0},  {"open_files_max", files}, {"memory_bytes", 1e9}};
}

std::vector<Oddity> oddities_of(std::uint64_t files, std::uint64_t processes) {
    const DoctorJson found = {{"nodes", DoctorJson::array({host_that_allows(files)})},
                              {"pairs", DoctorJson::array()}};
    return oddities(found, "b", processes);
}

// Two pipes and a connection for each process; twice as many connections that come, and 64 more; 64 others.
// Of 5000 processes 8192 connections come at most.
TEST(CliDoctor, AHostMustAllowTheFilesThatALaunchTakes) {
    for (const auto& [processes, files] :
         std::map<std::uint64_t, std::uint64_t>{{2, 138}, {180, 1028}, {5000, 15000 + 8192 + 64}}) {
        SCOPED_TRACE(processes);
        EXPECT_EQ(native::files_of_launch(processes), files);
        EXPECT_TRUE(oddities_of(files, processes).empty());
        const auto odd = oddities_of(files - 1, processes);
        ASSERT_EQ(odd.size(), 1u);
        EXPECT_TRUE(odd[0].prevents);
        EXPECT_THAT(odd[0].what, HasSubstr(std::to_string(files)));
    }
}

/// What a host is found to be on which the remote shell does `script`.
DoctorJson examine(const std::string& script) {
    return examine_hosts({{"a", 1}}, {"sh", "-c", script})["nodes"][0];
}

TEST(CliDoctor, AShellMayGreetBeforeItsHostAnswers) {
    const DoctorJson node = examine("echo Welcome; echo; echo 1; echo '{\"cores\": 3}'");
    EXPECT_EQ(node.value("cores", 0), 3) << node;
    EXPECT_FALSE(node.contains("error")) << node;
}

TEST(CliDoctor, AHostThatEndsWithoutAnAnswerIsNotCalledSilent) {
    EXPECT_EQ(examine("true").value("error", ""), "it ended without an answer");
    EXPECT_EQ(examine("echo Welcome").value("error", ""), "it said only: Welcome");
    EXPECT_EQ(examine("echo Welcome; echo no way >&2").value("error", ""), "no way");
}

}  // namespace
}  // namespace heddle::cli
