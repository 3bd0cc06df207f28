// In every test program but those with a sanitizer. ThreadSanitizer finds nothing in tests that have one
// thread: those that one_thread.txt names are left out with it (CMakeLists.txt). Here such a test fails if it
// starts a thread or a process after all. With HEDDLE_STARTS=FILE each test adds a line to that file: its own
// file and name, and how many threads and processes it started.
#include <dlfcn.h>
#include <fnmatch.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

std::atomic<unsigned> starts{0};

/// The function of the C library that one of the same name in this file hides.
template <class Function>
Function* hidden(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

std::vector<std::string> lines_of_list() {
    std::ifstream list(HEDDLE_SOURCE_DIR "/tests/one_thread.txt");
    std::vector<std::string> lines;
    for (std::string line; std::getline(list, line);) {
        if (!line.empty() && line.front() != '#') lines.push_back(line);
    }
    return lines;
}

class OneThread : public testing::EmptyTestEventListener {
    void OnTestStart(const testing::TestInfo&) override { starts = 0; }

    void OnTestEnd(const testing::TestInfo& test) override {
        const std::string file = std::filesystem::path(test.file()).stem().string();
        const std::string name = std::string(test.test_suite_name()) + "." + test.name();
        const bool listed = std::ranges::any_of(lines_, [&](const std::string& line) {
            return line == file || fnmatch(line.c_str(), name.c_str(), 0) == 0;
        });
        EXPECT_FALSE(starts > 0 && listed)
            << name << " started " << starts
            << " threads or processes, so tests/one_thread.txt may not name it";
        if (log_ != nullptr)
            std::ofstream(log_, std::ios::app) << file << ' ' << name << ' ' << starts << '\n';
    }

    std::vector<std::string> lines_ = lines_of_list();
    const char* log_ = std::getenv("HEDDLE_STARTS");
};

[[maybe_unused]] const bool listens = [] {
    testing::UnitTest::GetInstance()->listeners().Append(new OneThread);  // which deletes it
    return true;
}();

}  // namespace

extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*begin)(void*),
                   void* argument) noexcept {
    static auto* const create = hidden<decltype(pthread_create)>("pthread_create");
    ++starts;
    return create(thread, attributes, begin, argument);
}

pid_t fork() noexcept {
    static auto* const create = hidden<decltype(fork)>("fork");
    ++starts;
    return create();
}

int posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const arguments[], char* const environment[]) {
    static auto* const create = hidden<decltype(posix_spawn)>("posix_spawn");
    ++starts;
    return create(process, path, actions, attributes, arguments, environment);
}

int system(const char* command) {
    static auto* const create = hidden<decltype(system)>("system");
    ++starts;
    return create(command);
}

FILE* popen(const char* command, const char* mode) {
    static auto* const create = hidden<decltype(popen)>("popen");
    ++starts;
    return create(command, mode);
}
}
