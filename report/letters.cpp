// Computes a compact letter display: splits a set of lines wherever two of them differ, and drops sets that
// are parts of others.
#include "report/letters.hpp"

#include <algorithm>

namespace heddle::report {

namespace {

using Set = std::vector<bool>;

bool is_within(const Set& a, const Set& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i] && !b[i]) return false;
    return true;
}

/// Keeps the first of equal sets, and none that is a part of another one.
void absorb(std::vector<Set>& sets) {
    std::vector<Set> kept;
    for (std::size_t i = 0; i < sets.size(); ++i) {
        bool is_part = false;
        for (std::size_t j = 0; j < sets.size() && !is_part; ++j)
            is_part = i != j && is_within(sets[i], sets[j]) && (sets[i] != sets[j] || j < i);
        if (!is_part) kept.push_back(sets[i]);
    }
    sets = std::move(kept);
}

std::string name_of(std::size_t number) {
    std::string name(1, static_cast<char>('a' + number % 26));
    return number < 26 ? name : static_cast<char>('a' + number / 26 - 1) + name;
}

}  // namespace

std::vector<std::string> letters(std::size_t count,
                                 const std::function<bool(std::size_t, std::size_t)>& differ) {
    std::vector<Set> sets = {Set(count, true)};
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = i + 1; j < count; ++j) {
            if (!differ(i, j)) continue;
            std::vector<Set> split;
            for (const Set& set : sets) {
                split.push_back(set);
                if (!set[i] || !set[j]) continue;
                split.back()[j] = false;
                split.push_back(set);
                split.back()[i] = false;
            }
            absorb(split);
            sets = std::move(split);
        }
    }
    std::sort(sets.begin(), sets.end(), std::greater<>());
    std::vector<std::string> names(count);
    for (std::size_t s = 0; s < sets.size(); ++s) {
        for (std::size_t i = 0; i < count; ++i)
            if (sets[s][i]) names[i] += name_of(s);
    }
    return names;
}

}  // namespace heddle::report
