// Detects whether something else used this machine while a command ran: other processes, other virtual
// machines, a slower clock, other cores. Disturbed measurements can then be repeated.
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
    /// A loop of arithmetic before and after, over the shortest that this process has seen on that core, less
    /// 1: of the core where it is most.
    double slowdown = 0;
    /// A virtual machine whose host has moved it: a line of the cache takes another time between two cores
    /// than it should (line_exchange.hpp), before or after.
    bool on_other_cores = false;

    /// Whether what was measured meanwhile should be measured again.
    bool matters() const { return other_share > 0.05 || slowdown > 0.15 || on_other_cores; }
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
    /// `line_seconds`: what a line should take between two cores; 0: what it takes now. Measures the loop of
    /// arithmetic several times, in about 10 ms for each core.
    explicit DisturbanceWatch(double line_seconds = 0);

    double line_seconds() const { return line_seconds_; }

    /// Waits until a line takes between two cores what it should, `seconds_max` at most. False: it does not.
    bool wait_for_cores(double seconds_max) const;

    /// From now on a line should take what it takes now.
    void accept_cores();

    void begin();

    /// What happened since `begin`. The caller must have waited for its children.
    Disturbance end();

private:
    void note_shortest(const std::vector<double>& spins);

    struct Times {
        double wall_seconds = 0;
        double busy_seconds = 0;  ///< of the usable processors, with steal time
        unsigned processors = 0;
        double own_seconds = 0;  ///< processor time of this process and its children
    };
    static Times now();

    double line_seconds_;
    double line_before_ = 0;
    std::vector<double> shortest_spins_;  ///< of each usable core, in seconds
    std::vector<double> spins_before_;
    Times begin_;
};

}  // namespace heddle::host
