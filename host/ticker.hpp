// Calls a function at regular times from a thread of its own, to print lines of progress.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace heddle::host {

class Ticker {
public:
    /// Calls `tick` after `first`, then every `every`, until destroyed. Calls never overlap.
    Ticker(std::chrono::milliseconds first, std::chrono::milliseconds every, std::function<void()> tick);

    /// Returns as soon as a call that is under way has ended; no call comes after that.
    ~Ticker();

    Ticker(const Ticker&) = delete;
    Ticker& operator=(const Ticker&) = delete;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace heddle::host
