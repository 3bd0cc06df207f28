// Runs many commands as processes, several at a time, and reports how each ended. Processes that talk to each
// other are started by launch.hpp instead.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace heddle::host {

struct Job {
    std::vector<std::string> argv;
    bool alone = false;  ///< runs while no other does: its times would be disturbed
};

struct JobEnd {
    std::size_t job = 0;  ///< its index
    int exit_code = 0;    ///< 128 + signal where a signal ended it
    int signal = 0;       ///< that signal, or 0
    std::string errors;   ///< the last of what it wrote to standard error (64 KiB at most)
    double seconds = 0;   ///< of real time
};

struct PoolOptions {
    std::size_t width = 1;                     ///< processes at a time
    std::chrono::milliseconds tick{200};       ///< between two calls of `ticked`
    std::chrono::milliseconds patience{5000};  ///< between SIGTERM and SIGKILL for jobs that are stopped

    // All are called from the thread that called run_jobs, never two at once.
    std::function<bool(std::size_t job)> wanted = [](std::size_t) { return true; };  ///< false: never started
    std::function<void(std::size_t job)> started = [](std::size_t) {};
    std::function<void(const JobEnd&)> ended = [](const JobEnd&) {};
    std::function<void()> ticked = [] {};
};

/// Runs the jobs in their order; those that run alone come last. Their standard output is thrown away and
/// they have no input. They die with the calling thread, however it ends. Returns 0 when all have ended, or
/// the signal (SIGINT, SIGTERM, SIGHUP, SIGQUIT) that told this process to stop: the jobs that ran are then
/// stopped, and neither they nor the others are reported. Throws Error where a process cannot be started.
int run_jobs(const std::vector<Job>& jobs, const PoolOptions& options);

/// Runs one command with the caller's own standard streams. Returns its exit code (128 + signal where a
/// signal ended it). Throws Error where it cannot be started.
int run_command(const std::vector<std::string>& argv);

}  // namespace heddle::host
