// The function that every fuzz target defines: it reads one input. libFuzzer calls it (make fuzz), and so
// does replay.cpp, which needs no clang (make test).
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>

#include "base/error.hpp"

/// Reads one input. The target must refuse a bad one by heddle::Error; any other exception, a failed
/// assertion and a sanitizer's report are findings. Returns 0, as libFuzzer wants it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace heddle::fuzz {

inline std::string text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

/// Runs a reader, which may refuse its input.
template <class Read>
void read_or_refuse(Read read) {
    try {
        read();
    } catch (const Error&) {
        return;
    }
}

/// The first byte of the input says which of the readers gets the rest as a text. Returns 0.
template <class Readers>
int read_by_one_of(const Readers& readers, const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string text = text_of(data + 1, size - 1);
    read_or_refuse([&] { readers[data[0] % readers.size()](text); });
    return 0;
}

}  // namespace heddle::fuzz
