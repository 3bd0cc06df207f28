// The readings of a calibration's micro-benchmarks: each says how long a number of repetitions of one
// operation took. From them come samples of the time of one operation.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/backend.hpp"

namespace heddle::calibration {

/// Before a kernel's name: its quantity.
inline const std::string kernel_quantity = "kernel ";

/// The quantities of node_probe; their size is the node.
inline const std::string node_flop = "node_flop";
inline const std::string node_byte = "node_byte";

/// How many inputs the tasks of placed graphs have in the probes of them, and how many of these another
/// worker makes, if there are two.
inline constexpr std::uint32_t placed_inputs = 3;
inline constexpr std::uint32_t placed_elsewhere = 2;

/// One reading: `count` operations of kind `quantity` took `seconds`. `size` is what the kind depends on
/// besides, such as the bytes of a message; 0 where there is nothing.
struct Reading {
    std::string quantity;
    double size = 0;
    double count = 0;
    double seconds = 0;
};
using Readings = std::vector<Reading>;

/// As a message (Program::evidence), and back.
runtime::Bytes to_bytes(const Readings& readings);
Readings from_bytes(std::span<const std::byte> bytes);

/// A kind of operation and its size.
using Quantity = std::pair<std::string, double>;

/// Seconds per operation, in the order of the readings. Where a quantity was read with two counts, a sample
/// is the difference of two readings over that of their counts, so that what each reading takes once cancels
/// out. With one count it is the reading over its count.
using Samples = std::map<Quantity, std::vector<double>>;
Samples samples_of(const Readings& readings);

/// The middle value; of an even number the mean of the two. Not of nothing.
double median(std::vector<double> values);

}  // namespace heddle::calibration
