// Compares the memory that a piece of work needs with the memory that the process may still take.
#include "base/memory_need.hpp"

#include <fmt/format.h>

#include <limits>

#include "base/units.hpp"

namespace heddle {

namespace {

double available = std::numeric_limits<double>::infinity();

}  // namespace

void set_available_memory(double bytes) {
    available = bytes;
}

void need_memory(double bytes, const std::string& what, const std::string& reduce, const Location& where) {
    if (bytes <= available) return;
    throw Error(fmt::format("{} take about {} of memory, and {} are there", what, show_bytes(bytes),
                            show_bytes(available)),
                reduce, where)
        .as_refusal();
}

}  // namespace heddle
