// Two one-sided tests by a bootstrap interval, and the levels of repeated tests.
#include "results/equivalence.hpp"

namespace heddle::results {

const char* name(Equivalence equivalence) {
    switch (equivalence) {
        case Equivalence::within:
            return "within";
        case Equivalence::outside:
            return "outside";
        case Equivalence::undecided:
            break;
    }
    return "undecided";
}

Equivalence equivalence(const std::vector<double>& above, const std::vector<double>& below, double bound,
                        double error_rate, std::uint32_t resamples, Random random) {
    const Interval ratio = bootstrap_ratio_of_medians(above, below, 1 - 2 * error_rate, resamples, random);
    if (ratio.low >= 1 - bound && ratio.high <= 1 + bound) return Equivalence::within;
    if (ratio.low > 1 + bound || ratio.high < 1 - bound) return Equivalence::outside;
    return Equivalence::undecided;
}

std::size_t next_look(std::size_t values) {
    std::size_t look = first_look;
    while (look <= values) look *= 2;
    return look;
}

double level_of_look(std::size_t values, double error_rate) {
    double at_look = error_rate / 2;
    for (std::size_t look = first_look; look < values; look *= 2) at_look /= 2;
    return at_look;
}

}  // namespace heddle::results
