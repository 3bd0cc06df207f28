// For tests: runs command lines of heddle, in this process or by the real binary.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "cli/main_function.hpp"

namespace heddle::testing_cli {

struct Said {
    int code = -1;
    std::string out;
    std::string err;
};

/// One command line in this process, which knows the workloads that the test registered.
inline Said heddle(std::vector<std::string> words) {
    words.insert(words.begin(), "heddle");
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    Said said;
    said.code = cli::run_main(static_cast<int>(words.size()), arguments.data());
    said.out = testing::internal::GetCapturedStdout();
    said.err = testing::internal::GetCapturedStderr();
    return said;
}

/// A folder of its own for each test; gone afterwards.
class Folder : public testing::Test {
protected:
    void SetUp() override {
        std::filesystem::remove_all(folder);
        std::filesystem::create_directories(folder);
    }
    void TearDown() override { std::filesystem::remove_all(folder); }

    std::string file(const std::string& name, const std::string& text) const {
        std::ofstream(folder / name) << text;
        return folder / name;
    }
    static std::string read(const std::filesystem::path& path) {
        std::ifstream stream(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    }

    /// The real binary, with the words of a shell.
    Said binary(const std::string& words) const {
        const std::string out = folder / "out.txt", err = folder / "err.txt";
        const std::string command = HEDDLE_BINARY " " + words + " >" + out + " 2>" + err + " </dev/null";
        const int status = std::system(command.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(out), read(err)};
    }

    std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("heddle_cli_test." + std::to_string(::getpid()));
};

}  // namespace heddle::testing_cli
