// Serializes readings, and pairs them into samples.
#include "calibration/readings.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "runtime/comm/wire.hpp"

namespace heddle::calibration {

runtime::Bytes to_bytes(const Readings& readings) {
    runtime::Writer writer;
    for (const Reading& reading : readings)
        writer.put_text(reading.quantity).put(reading.size).put(reading.count).put(reading.seconds);
    const auto bytes = writer.bytes();
    return {bytes.begin(), bytes.end()};
}

Readings from_bytes(std::span<const std::byte> bytes) {
    Readings readings;
    runtime::Reader reader(bytes);
    while (!reader.done()) {
        Reading& reading = readings.emplace_back();
        reading.quantity = reader.get_text();
        reading.size = reader.get<double>();
        reading.count = reader.get<double>();
        reading.seconds = reader.get<double>();
        reader.check();
    }
    return readings;
}

Samples samples_of(const Readings& readings) {
    std::map<Quantity, std::map<double, std::vector<double>>> by_count;
    for (const Reading& reading : readings)
        by_count[{reading.quantity, reading.size}][reading.count].push_back(reading.seconds);
    Samples samples;
    for (const auto& [quantity, counts] : by_count) {
        const auto& [few, few_seconds] = *counts.begin();
        const auto& [many, many_seconds] = *counts.rbegin();
        std::vector<double>& of_quantity = samples[quantity];
        for (std::size_t i = 0; i < std::min(few_seconds.size(), many_seconds.size()); ++i) {
            of_quantity.push_back(counts.size() == 1 ? few_seconds[i] / few
                                                     : (many_seconds[i] - few_seconds[i]) / (many - few));
        }
    }
    return samples;
}

double median(std::vector<double> values) {
    HEDDLE_ASSERT(!values.empty());
    std::ranges::sort(values);
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace heddle::calibration
