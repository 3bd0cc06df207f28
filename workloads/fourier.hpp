// Discrete Fourier transforms by FFTW, one thread each. It plans and executes; it distributes nothing.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/backend.hpp"

namespace heddle::workloads {

using Complex = std::complex<double>;

/// A transform in place of adjacent elements, row by row. Nothing is divided by the number of elements.
/// Threads may share it.
class Fourier {
public:
    enum class Direction : std::uint8_t { forward, backward };

    /// FFTW plans one transform at a time in a process, so call it in Workload::prepare. FFTW estimates and
    /// does not measure, so the same sizes give the same bits in each run.
    Fourier(std::vector<int> sizes, Direction direction);
    ~Fourier();

    void transform(Complex* data) const;

    std::uint64_t elements() const { return elements_; }
    /// 5 n lg n flops, as FFTW's authors count, and one pass through memory in each dimension.
    runtime::Work work() const;

private:
    struct Plan;
    std::uint64_t elements_ = 1;
    std::size_t dimensions_;
    std::unique_ptr<Plan> plan_;
};

}  // namespace heddle::workloads
