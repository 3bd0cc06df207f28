// A priority queue that gives its least and its greatest element (Atkinson, Sack, Santoro, Strothotte:
// "Min-max heaps and generalized priority queues", CACM 1986). An array holds the elements, so none is
// allocated by itself. It takes no locks.
#pragma once

#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace heddle::runtime {

/// Of elements that compare with `<`, no two alike.
template <class T>
class MinMaxHeap {
public:
    bool empty() const { return elements_.empty(); }
    std::size_t size() const { return elements_.size(); }

    /// The least and the greatest. Not empty.
    const T& first() const { return elements_.front(); }
    const T& last() const { return elements_[last_place()]; }

    void push(const T& element) {
        elements_.push_back(element);
        rise(elements_.size() - 1);
    }

    /// The least. Not empty.
    T pop_first() { return remove(0); }

    /// The greatest. Not empty.
    T pop_last() { return remove(last_place()); }

private:
    std::size_t last_place() const {
        if (size() <= 2) return size() - 1;
        return elements_[1] < elements_[2] ? 2 : 1;
    }

    // Invariant: an element on an even level is the least of the tree below it, one on an odd level the
    // greatest.
    static bool least_below(std::size_t i) { return std::bit_width(i + 1) % 2 == 1; }

    /// Whether `a` may stand above `b` on a level of that kind.
    static bool above(bool least, const T& a, const T& b) { return least ? a < b : b < a; }

    void rise(std::size_t i) {
        if (i == 0) return;
        const std::size_t parent = (i - 1) / 2;
        bool least = least_below(i);
        if (above(!least, elements_[i], elements_[parent])) {
            std::swap(elements_[i], elements_[parent]);
            i = parent;
            least = !least;
        }
        while (i >= 3) {
            const std::size_t grandparent = (i - 3) / 4;
            if (!above(least, elements_[i], elements_[grandparent])) return;
            std::swap(elements_[i], elements_[grandparent]);
            i = grandparent;
        }
    }

    T remove(std::size_t i) {
        const T removed = elements_[i];
        const T last = elements_.back();
        elements_.pop_back();
        if (i < size()) {
            elements_[i] = last;
            sink(i);
        }
        return removed;
    }

    void sink(std::size_t i) {
        const bool least = least_below(i);
        for (;;) {
            std::size_t best = i;
            const auto look_at = [&](std::size_t first, std::size_t count) {
                for (std::size_t j = first; j < first + count && j < size(); ++j)
                    if (above(least, elements_[j], elements_[best])) best = j;
            };
            look_at(2 * i + 1, 2);
            look_at(4 * i + 3, 4);
            if (best == i) return;
            std::swap(elements_[i], elements_[best]);
            if (best <= 2 * i + 2) return;  // a child
            const std::size_t parent = (best - 1) / 2;
            if (above(!least, elements_[best], elements_[parent]))
                std::swap(elements_[best], elements_[parent]);
            i = best;
        }
    }

    std::vector<T> elements_;
};

}  // namespace heddle::runtime
