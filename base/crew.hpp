// Several threads that share a piece of work. Code outside runtime/native must not start threads, so its
// caller hands it a crew.
#pragma once

#include <functional>

namespace heddle {

class Crew {
public:
    virtual ~Crew() = default;

    /// How many threads may share a piece of work, the caller's included.
    virtual unsigned size() const = 0;

    /// Calls `share` on the caller's thread, and on each other thread that gets a core before the caller's
    /// call has returned. Returns when all calls have returned. When the first call returns, `share` must
    /// have left no work but what other calls are doing. Each call sees what the caller wrote before, and the
    /// caller sees afterwards what the calls wrote. `share` must not throw. A run is cheap enough for every
    /// few microseconds.
    virtual void run(const std::function<void()>& share) = 0;
};

}  // namespace heddle
