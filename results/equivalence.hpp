// Tests whether two samples of times are equal within a bound, by the ratio of their medians. The tests stay
// valid while the samples grow. Works on plain numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "results/statistics.hpp"

namespace heddle::results {

enum class Equivalence : std::uint8_t {
    within,    ///< the ratio is shown to be within the bound
    outside,   ///< it is shown to be outside
    undecided  ///< neither
};

const char* name(Equivalence equivalence);

/// Tests whether the ratio of the medians of `above` and `below` is between 1 - bound and 1 + bound, by two
/// one-sided tests of size `error_rate` each (Schuirmann, "A comparison of the two one-sided tests procedure
/// and the power approach", 1987). They reject if the interval of the ratio with confidence 1 - 2 error_rate
/// is between the two limits (Berger and Hsu, "Bioequivalence trials, intersection-union tests and
/// equivalence confidence sets", 1996). `outside` is the one-sided test of the other side: the whole interval
/// is beyond a limit. At least one value in each sample; none of `below` may be zero; `error_rate` at most
/// 0.25.
Equivalence equivalence(const Sample& above, const Sample& below, double bound, double error_rate);

/// Samples that grow are tested when they have 8, 16, 32, ... values, and not between: then a test again and
/// again finds by chance what is not there.
inline constexpr std::size_t first_look = 8;

/// The least of 8, 16, 32, ... that is above `values`.
std::size_t next_look(std::size_t values);

/// The level of the test that is made with so many values: half of `error_rate` up to 8, a quarter up to 16,
/// and so on. They sum up to `error_rate` at most, so the error of all tests together is at most
/// `error_rate`, by Bonferroni's inequality.
double level_of_look(std::size_t values, double error_rate);

/// The first decision of the tests at looks. Each takes the first values of both samples, or a constant
/// sample as it is, so that more values do not change a decision. Undecided before the first look.
Equivalence equivalence_at_looks(const Sample& above, const Sample& below, double bound, double error_rate);

}  // namespace heddle::results
