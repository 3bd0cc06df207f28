// Two one-sided tests by an interval, and their repetition at looks.
#include "results/equivalence.hpp"

#include <algorithm>
#include <optional>

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

Equivalence equivalence(const Sample& above, const Sample& below, double bound, double error_rate) {
    const std::optional<Interval> ratio = ratio_interval(above, below, 1 - 2 * error_rate);
    if (!ratio) return Equivalence::undecided;
    if (ratio->low >= 1 - bound && ratio->high <= 1 + bound) return Equivalence::within;
    if (ratio->low > 1 + bound || ratio->high < 1 - bound) return Equivalence::outside;
    return Equivalence::undecided;
}

Equivalence equivalence_at_looks(const Sample& above, const Sample& below, double bound, double error_rate) {
    const auto first = [](const Sample& sample, std::size_t count) {
        if (sample.constant) return sample;
        const auto end = sample.values.begin() + static_cast<std::ptrdiff_t>(count);
        return Sample{{sample.values.begin(), end}};
    };
    const auto there = [](const Sample& sample, std::size_t count) {
        return sample.constant || sample.values.size() >= count;
    };
    const std::size_t most = std::max(above.values.size(), below.values.size());
    for (std::size_t look = first_look; look <= most; look = next_look(look)) {
        if (!there(above, look) || !there(below, look)) break;
        const Equivalence verdict =
            equivalence(first(above, look), first(below, look), bound, level_of_look(look, error_rate));
        if (verdict != Equivalence::undecided) return verdict;
    }
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
