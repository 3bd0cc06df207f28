// What a look of a thief has found of the objects of a dataflow thread so far. Each object has the number of
// its entry in a table (Briggs, Torczon: "An efficient representation for sparse sets", LOPLAS 1993).
//
// Invariant: what an object says of itself counts only if the entry with its number names that object. So a
// new look begins with an empty table, and objects need not be told. An object at the place of one that has
// ended is new to the table, because its number is 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.hpp"
#include "model/dataflow/closure.hpp"

namespace heddle::dataflow {

class Notes {
public:
    /// What the closures so far leave of an object.
    enum class Seen : std::uint8_t {
        value,        ///< all are done; it has a value
        readers,      ///< some still read that
        accumulated,  ///< contributions are still to be added
        busy,         ///< a task will write it
    };

    void clear() { entries_.resize(1); }
    /// How many objects it has.
    std::size_t size() const { return entries_.size() - 1; }

    bool has(const Access& root) const {
        const std::uint32_t number = root.noted >> 2;
        return number < entries_.size() && entries_[number].root == &root;
    }
    /// It must not have it.
    void add(Access& root, Cell* value, Seen seen) {
        HEDDLE_ASSERT(entries_.size() < std::uint32_t{1} << 30);
        root.noted = static_cast<std::uint32_t>(entries_.size()) << 2 | static_cast<std::uint32_t>(seen);
        entries_.push_back({&root, value});
    }

    // --- of an object that it has
    static Seen seen(const Access& root) { return static_cast<Seen>(root.noted & 3); }
    Cell* value(const Access& root) const { return entries_[root.noted >> 2].value; }
    static void set(Access& root, Seen seen) {
        root.noted = (root.noted & ~std::uint32_t{3}) | static_cast<std::uint32_t>(seen);
    }
    void set_value(Access& root, Cell* value) {
        entries_[root.noted >> 2].value = value;
        set(root, Seen::value);
    }

private:
    struct Entry {
        const Access* root;
        Cell* value;
    };
    std::vector<Entry> entries_{{nullptr, nullptr}};  ///< the first is that of no object
};

}  // namespace heddle::dataflow
