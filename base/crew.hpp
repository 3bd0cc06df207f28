// Several threads that share a piece of work, for whoever may not start threads itself (only runtime/native
// may).
#pragma once

#include <functional>

namespace heddle {

class Crew {
public:
    virtual ~Crew() = default;

    /// How many threads may share a piece of work, the caller's included.
    virtual unsigned size() const = 0;

    /// Calls `share` on the caller's thread, and at the same time on each of the others that finds a core
    /// before the caller's has returned. Returns when all that began have returned: `share` must see to it
    /// that nothing is left when the first one returns but what others are at. What was written before is
    /// seen by all, and what they wrote is seen afterwards. `share` must not throw. Cheap enough to be called
    /// every few microseconds.
    virtual void run(const std::function<void()>& share) = 0;
};

}  // namespace heddle
