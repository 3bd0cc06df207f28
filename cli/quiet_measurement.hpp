// Runs calibrate's probes on this machine, and those again that something disturbed.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "calibration/probe.hpp"
#include "cli/calibration_file.hpp"
#include "host/disturbance.hpp"

namespace heddle::cli {

/// Of repeats the last readings count. Repeats take at most as long as everything else, because a machine
/// that is never quiet must end as well.
class QuietMeasurement {
public:
    explicit QuietMeasurement(std::function<void(const std::string& line)> say) : say_(std::move(say)) {}

    using Run = std::function<calibration::Readings(const calibration::Probe& probe)>;
    /// In their order, with progress. Where the host of this virtual machine moves it to other cores, which
    /// exchange lines of the cache in another time, what several cores have measured before is measured
    /// again: all of it is of the same cores, unless they change too often.
    std::vector<ProbeReadings> measure(const std::vector<calibration::Probe>& probes, const Run& run);

    /// Probes of which disturbed readings count.
    unsigned disturbed() const { return disturbed_; }
    /// Of a line of the cache from core to core; 0: there is one core.
    double line_seconds() const { return watch_.line_seconds(); }

private:
    calibration::Readings repeated(const calibration::Probe& probe, const Run& run);
    void follow_cores();

    std::function<void(const std::string& line)> say_;
    host::DisturbanceWatch watch_;
    double first_seconds_ = 0, repeat_seconds_ = 0;
    unsigned repeated_ = 0, disturbed_ = 0;
    unsigned moves_ = 0;
    bool moved_ = false;  ///< since a probe began
};

}  // namespace heddle::cli
