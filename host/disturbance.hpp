// Detects whether something else used this machine while a command ran: other processes, other virtual
// machines, a slower clock. Disturbed measurements can then be repeated.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <vector>

namespace heddle::host {

struct Disturbance {
    /// Time that other processes and other virtual machines (steal time) had of the processors that this
    /// process may use, over all time of these. Time below two ticks of the system's accounting counts as
    /// none.
    double other_share = 0;
    /// A loop of arithmetic before and after, over the shortest that this process has seen, less 1.
    double slowdown = 0;
};

/// What some processors have done since the machine's start.
struct ProcessorUse {
    double busy_ticks = 0;  ///< of all together, with steal time
    unsigned processors = 0;
};

/// By a text as that of /proc/stat: of those of `processors` that it names. No `processors`: of all.
ProcessorUse processor_use(std::istream& text, const std::vector<unsigned>& processors);

/// Watches from one call to the next. Children of this process and what they have waited for count as the
/// command. Involuntary switches are not counted: a run with more threads than cores has them by itself.
class DisturbanceWatch {
public:
    /// Measures the loop of arithmetic several times, in about 20 ms.
    DisturbanceWatch();

    void begin();

    /// What happened since `begin`. The caller must have waited for its children.
    Disturbance end();

private:
    double spin();

    struct Times {
        double wall_seconds = 0;
        double busy_seconds = 0;  ///< of the usable processors, with steal time
        unsigned processors = 0;
        double own_seconds = 0;  ///< processor time of this process and its children
    };
    static Times now();

    double shortest_spin_ = 0;
    double spin_before_ = 0;
    Times begin_;
};

}  // namespace heddle::host
