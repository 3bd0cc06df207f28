// Makes and executes FFTW's plans for discrete Fourier transforms.
#include "workloads/fourier.hpp"

#include <fftw3.h>

#include <cmath>

#include "base/assert.hpp"

namespace heddle::workloads {

struct Fourier::Plan {
    explicit Plan(fftw_plan given) : plan(given) {}
    ~Plan() { fftw_destroy_plan(plan); }
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    fftw_plan plan;
};

namespace {

fftw_complex* fftw_data(Complex* data) {
    return reinterpret_cast<fftw_complex*>(data);
}

}  // namespace

Fourier::Fourier(std::vector<int> sizes, Direction direction) : dimensions_(sizes.size()) {
    for (const int size : sizes) elements_ *= static_cast<std::uint64_t>(size);
    std::vector<Complex> example(elements_);
    plan_ = std::make_unique<Plan>(fftw_plan_dft(
        static_cast<int>(sizes.size()), sizes.data(), fftw_data(example.data()), fftw_data(example.data()),
        direction == Direction::forward ? FFTW_FORWARD : FFTW_BACKWARD, FFTW_ESTIMATE | FFTW_UNALIGNED));
    HEDDLE_ASSERT(plan_->plan != nullptr);
}

Fourier::~Fourier() = default;

void Fourier::transform(Complex* data) const {
    fftw_execute_dft(plan_->plan, fftw_data(data), fftw_data(data));
}

runtime::Work Fourier::work() const {
    const auto n = static_cast<double>(elements_);
    return {5 * n * std::log2(n), 2 * sizeof(Complex) * n * static_cast<double>(dimensions_)};
}

}  // namespace heddle::workloads
