// Threads for code that blocks, beside those of the workers: as many as there are calls at the same time, up
// to a limit. They sleep when there is nothing to run.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace heddle::native {

class IoThreads {
public:
    static constexpr std::size_t most = 64;

    IoThreads() = default;
    /// Waits until all that was given has run.
    ~IoThreads();
    IoThreads(const IoThreads&) = delete;
    IoThreads& operator=(const IoThreads&) = delete;

    /// Runs `call`, which throws nothing, soon; at the limit, after earlier ones. Any thread may call it.
    void run(std::function<void()> call);

private:
    void serve();

    std::mutex mutex_;  ///< over all below
    std::condition_variable changed_;
    std::deque<std::function<void()>> calls_;
    std::vector<std::thread> threads_;
    std::size_t idle_ = 0;
    bool ending_ = false;
};

}  // namespace heddle::native
