// The files of a calibration: the platform file with intervals and methods, its readings as CSV, and the
// comparison of two such files.
#pragma once

#include <string>
#include <vector>

#include "calibration/entries.hpp"
#include "calibration/node_speeds.hpp"

namespace heddle::cli {

/// A host that was compared with others.
struct HostSpeed {
    std::string name;
    calibration::NodeSpeed speed;
};

/// What a calibration says of itself besides its entries.
struct CalibrationFacts {
    std::string world;       ///< what was measured: a machine's name, or a description
    std::string processor;   ///< as the system names it; may be empty
    unsigned cores = 1;      ///< of the node
    unsigned processes = 1;  ///< that exchanged messages
    bool quick = false;
    calibration::Noise noise;
    double line_seconds = 0;  ///< of a line of the cache from core to core (host/line_exchange.hpp); 0: none
    unsigned disturbed = 0;   ///< probes that other programs disturbed each time
    double seconds = 0;       ///< that it took; 0: not stated
    std::string readings;     ///< the name of the file beside it
    std::vector<HostSpeed> hosts = {};
};

/// A platform file: `platform`, for `platform.from`, and `calibration`, for people and `--diff`.
std::string calibration_yaml(const calibration::Calibration& found, const CalibrationFacts& facts);

/// What such a file says of `CalibrationFacts::line_seconds`. 0: nothing, or it is another file.
double line_seconds_in(const std::string& path);

/// Readings of a probe.
struct ProbeReadings {
    std::string probe;
    calibration::Readings readings;
};

/// Removes the file in which node 0 of a launch has left the bytes of its readings, and returns them. Throws
/// Error if there are none: node 0 may have run on a machine with other files.
calibration::Readings take_readings(const std::string& path);

/// The columns probe, quantity, size, count, seconds.
std::string readings_csv(const std::vector<ProbeReadings>& all);

/// An entry's value for people.
std::string shown_value(const calibration::Entry& entry, double value);

struct Difference {
    std::string table;
    bool agree = true;  ///< all entries lie within 5%, or their intervals overlap
};

/// Compares two such files, entry by entry. Throws Error, with file and line.
Difference difference_of(const std::string& a, const std::string& b);

}  // namespace heddle::cli
