// For native tests: a log that a test can read, this program as a child process, sockets within this process.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "runtime/native/socket.hpp"

namespace heddle::native {

/// Takes the program's log while it lives.
class LogReader {
public:
    LogReader() : before_(spdlog::default_logger()) {
        spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", sink_));
    }
    ~LogReader() { spdlog::set_default_logger(before_); }

    std::string text() const { return sink_->text(); }
    bool has(const std::string& part) const { return text().find(part) != std::string::npos; }

private:
    class Sink final : public spdlog::sinks::base_sink<std::mutex> {
    public:
        std::string text() {
            const std::lock_guard lock(mutex_);
            return text_;
        }

    private:
        void sink_it_(const spdlog::details::log_msg& message) override {
            text_.append(message.payload.begin(), message.payload.end()).push_back('\n');
        }
        void flush_() override {}
        std::string text_;
    };
    std::shared_ptr<Sink> sink_ = std::make_shared<Sink>();
    std::shared_ptr<spdlog::logger> before_;
};

/// Waits until `ready`. False where that takes longer than a machine under load can explain.
inline bool eventually(const std::function<bool()>& ready,
                       std::chrono::seconds limit = std::chrono::seconds(60)) {
    for (const Deadline end = Clock::now() + limit; !ready();) {
        if (Clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
}

/// The message of the Error that `code` throws; empty where it throws none.
inline std::string error_of(const std::function<void()>& code) {
    try {
        code();
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

/// This test program, running one test that is disabled: `argv` for a process starter. Where the tests of a
/// program are shared out among processes, a child must not take it that the test is another one's.
inline std::vector<std::string> child_program(const std::string& test) {
    return {"env",
            "-u",
            "GTEST_TOTAL_SHARDS",
            "-u",
            "GTEST_SHARD_INDEX",
            std::filesystem::read_symlink("/proc/self/exe").string(),
            "--gtest_also_run_disabled_tests",
            "--gtest_filter=" + test};
}

/// The addresses at which this process listens on IPv4 TCP.
inline std::set<std::string> listening_addresses() {
    std::set<std::string> sockets;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
        if (target.starts_with("socket:[")) sockets.insert(target.substr(8, target.size() - 9));
    }
    std::set<std::string> addresses;
    std::ifstream table("/proc/self/net/tcp");
    std::string line;
    std::getline(table, line);  // the headings
    while (std::getline(table, line)) {
        std::istringstream words(line);
        std::vector<std::string> fields;
        for (std::string field; words >> field;) fields.push_back(field);
        const std::string listening = "0A";
        if (fields.size() < 10 || fields[3] != listening || !sockets.contains(fields[9])) continue;
        addresses.insert("127.0.0.1:" + std::to_string(std::stoi(fields[1].substr(9), nullptr, 16)));
    }
    return addresses;
}

inline Deadline soon() {
    return Clock::now() + std::chrono::seconds(20);
}

inline std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

/// Two ends of one connection.
inline std::pair<Descriptor, Descriptor> connected_pair() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    return {Descriptor(ends[0]), Descriptor(ends[1])};
}

}  // namespace heddle::native
