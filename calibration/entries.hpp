// The values that a calibration finds for a platform file: each has an interval, and the method by which it
// was found. None is derived from the makespan of a workload.
#pragma once

#include <string>
#include <vector>

#include "calibration/readings.hpp"

namespace heddle::calibration {

/// One key of a platform file.
struct Entry {
    enum class Kind { time, speed, bandwidth };

    std::string key;  ///< below `platform`: overheads.fork; of a list also its place: memory_bandwidth.2
    Kind kind = Kind::time;
    double value = 0;  ///< seconds, flops per second, or bytes per second
    double low = 0;    ///< of the interval of 95% (bootstrap, percentiles)
    double high = 0;
    std::size_t samples = 0;  ///< of the quantity that has the fewest of those that it comes from
    std::string method;
};

/// Before a kernel's name: its key. Behind it `@` and the size of its data, if that matters.
inline const std::string kernel_key = "kernels.";

/// Before `send@` and `receive@` with the bytes of a message: the keys of overheads.message_bytes.
inline const std::string message_bytes_key = "message_bytes.";

/// The kind of the entry of that key.
Entry::Kind kind_of(const std::string& key);

/// What was not measured, and why.
struct Missing {
    std::string key;
    std::string reason;
};

/// What the messages of the readings passed: networks, of whose links a message passes two, or the memory of
/// a machine.
enum class Way { network, shared_memory };

/// A message of that size: what half a round trip took, and what it takes by the entries.
struct Trip {
    double bytes = 0;
    double seen = 0;
    double by_entries = 0;
};

struct Calibration {
    std::vector<Entry> entries;
    std::vector<Trip> trips;
    std::vector<Missing> missing;
    std::vector<std::string> remarks;  ///< what a reader must know of the fit
};

/// Solves for the entries. `seed`: of the resampling.
Calibration calibrate(const Samples& samples, Way way, std::uint64_t seed = 1);

/// What other programs take of the cores, as the probe of noise has read it: the mean of a quantum over its
/// fifth percentile, less 1, of the worst core.
struct Noise {
    double lost = 0;
    double spread = 0;  ///< the 99th percentile over the median, less 1
};
Noise noise_of(const Readings& readings);

}  // namespace heddle::calibration
