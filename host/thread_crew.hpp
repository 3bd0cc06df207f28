// Threads that share a caller's work for a few microseconds at a time: the crew that the simulator uses.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/crew.hpp"

namespace heddle::host {

class ThreadCrew final : public Crew {
public:
    /// Returns when all threads wait for work. Throws Error where the system gives no more threads.
    explicit ThreadCrew(unsigned size);
    ~ThreadCrew() override;
    ThreadCrew(const ThreadCrew&) = delete;
    ThreadCrew& operator=(const ThreadCrew&) = delete;

    unsigned size() const override { return static_cast<unsigned>(threads_.size()) + 1; }
    void run(const std::function<void()>& share) override;

private:
    void serve();
    void end();

    const std::function<void()>* share_ = nullptr;
    bool over_ = false;
    /// The round: its number in the upper half, in the lower how many are at it, and whether any more may
    /// begin.
    alignas(64) std::atomic<std::uint64_t> round_{closed};
    static constexpr std::uint64_t closed = 1U << 31;
    static constexpr std::uint64_t one_round = std::uint64_t{1} << 32;

    std::atomic<std::size_t> begun_{0};  ///< threads that wait for work
    std::vector<std::thread> threads_;
};

}  // namespace heddle::host
