// Starts queued commands as processes, collects their errors and exit codes, and stops them on a signal.
#include "host/process_pool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>

#include "base/error.hpp"
#include "host/descriptor.hpp"
#include "host/local_starter.hpp"
#include "host/signal_watch.hpp"
#include "host/wall_clock.hpp"

namespace heddle::host {

namespace {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

constexpr std::size_t errors_max = 1 << 16;

int code_of(int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// A process of the pool, with the reading end of its standard error.
struct Running {
    std::size_t job = 0;
    pid_t id = -1;
    Descriptor errors;
    std::string text;
    double began = 0;

    /// Takes what has been written so far. False at the end.
    bool read_errors() {
        std::array<char, 4096> bytes;
        while (true) {
            const auto count = read(errors.get(), bytes.data(), bytes.size());
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) return count < 0 && errno == EAGAIN;
            text.append(bytes.data(), static_cast<std::size_t>(count));
            if (text.size() > errors_max) text.erase(0, text.size() - errors_max);
        }
    }
};

class Pool {
public:
    Pool(const std::vector<Job>& jobs, const PoolOptions& options)
        : jobs_(jobs), options_(options), nothing_(open("/dev/null", O_RDWR | O_CLOEXEC)) {
        for (const bool alone : {false, true}) {
            for (std::size_t job = 0; job < jobs.size(); ++job)
                if (jobs[job].alone == alone) order_.push_back(job);
        }
    }

    ~Pool() {
        for (const Running& process : running_) kill(process.id, SIGKILL);
        for (const Running& process : running_) waitpid(process.id, nullptr, 0);
    }
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    int run() {
        auto next_tick = Clock::now() + options_.tick;
        while (next_ < order_.size() || !running_.empty()) {
            while (may_start()) {
                const std::size_t job = order_[next_++];
                if (options_.wanted(job)) start(job);
            }
            if (running_.empty() && next_ == order_.size()) break;  // the last were not wanted
            wait_for_news(next_tick);
            // Before the ends of jobs: what told this process to stop may have told them, too.
            if (const int signal = interrupted()) {
                stop();
                return signal;
            }
            reap();
            if (Clock::now() < next_tick) continue;
            options_.ticked();
            next_tick = Clock::now() + options_.tick;
        }
        return 0;
    }

private:
    bool may_start() const {
        if (next_ == order_.size()) return false;
        if (running_.empty()) return true;
        return running_.size() < options_.width && !jobs_[order_[next_]].alone &&
               !jobs_[running_[0].job].alone;
    }

    void start(std::size_t job) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC)) throw Error(fmt::format("cannot make a pipe: {}", error_text(errno)));
        Running process{job, -1, Descriptor(ends[0]), {}, wall_seconds()};
        const Descriptor writing(ends[1]);
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        process.id = starter_.start(0, jobs_[job].argv, {}, {nothing_.get(), nothing_.get(), writing.get()});
        running_.push_back(std::move(process));
        options_.started(job);
    }

    void wait_for_news(Deadline until) {
        std::vector<pollfd> entries{{signals_.descriptor(), POLLIN, 0}};
        // A negative descriptor is skipped.
        for (const Running& process : running_) entries.push_back({process.errors.get(), POLLIN, 0});
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
        if (poll(entries.data(), entries.size(), static_cast<int>(std::max<std::int64_t>(left, 0))) <= 0)
            return;
        for (std::size_t i = 0; i < running_.size(); ++i)
            if (entries[i + 1].revents && !running_[i].read_errors()) running_[i].errors.reset();
    }

    int interrupted() const {
        while (const int signal = signals_.next())
            if (signal != SIGCHLD) return signal;
        return 0;
    }

    void reap() {
        for (std::size_t i = running_.size(); i-- > 0;) {
            const auto status = status_if_ended(running_[i].id);
            if (!status) continue;
            Running process = std::move(running_[i]);
            running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
            if (process.errors) process.read_errors();
            options_.ended({process.job, code_of(*status), WIFSIGNALED(*status) ? WTERMSIG(*status) : 0,
                            std::move(process.text), wall_seconds() - process.began});
        }
    }

    /// Ends what runs, kindly at first.
    void stop() {
        for (const Running& process : running_) kill(process.id, SIGTERM);
        for (const Deadline end = Clock::now() + options_.patience;
             !running_.empty() && Clock::now() < end;) {
            std::erase_if(running_,
                          [](const Running& process) { return status_if_ended(process.id).has_value(); });
            if (!running_.empty()) wait_for_news(std::min(end, Clock::now() + std::chrono::milliseconds(50)));
            interrupted();
        }
    }

    const std::vector<Job>& jobs_;
    const PoolOptions& options_;
    SignalWatch signals_;
    LocalStarter starter_;
    Descriptor nothing_;
    std::vector<std::size_t> order_;
    std::size_t next_ = 0;
    std::vector<Running> running_;
};

}  // namespace

int run_jobs(const std::vector<Job>& jobs, const PoolOptions& options) {
    return Pool(jobs, options).run();
}

int run_command(const std::vector<std::string>& argv) {
    return code_of(status_if_ended(LocalStarter().start(0, argv, {}, {}), true).value());
}

}  // namespace heddle::host
