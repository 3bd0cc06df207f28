// Strassen's multiplication by dataflow, nested: a product that is divided forks the sums of its factors'
// quarters, seven products, and the task that combines them.
#pragma once

#include "model/dataflow.hpp"
#include "workloads/strassen.hpp"

template <>
struct heddle::runtime::Serialize<heddle::workloads::strassen::Square> {
    static void write(Writer& writer, const heddle::workloads::strassen::Square& square);
    static heddle::workloads::strassen::Square read(Reader& reader);
};

namespace heddle::workloads {

/// A product of squares.
struct StrassenProduct {
    std::uint32_t rows;
    std::uint32_t cutoff;  ///< products of at most so many rows are not divided
    std::uint32_t depth;   ///< so many levels of divided products fork; those below are plain calls

    bool forks() const { return depth > 0 && rows > cutoff; }
    StrassenProduct half() const { return {rows / 2, cutoff, depth - 1}; }
};

/// Forks c = a b. The rows of squares that are divided must be even.
void fork_strassen(dataflow::Thread& self, const StrassenProduct& product,
                   const dataflow::shared<strassen::Square>& a, const dataflow::shared<strassen::Square>& b,
                   const dataflow::shared<strassen::Square>& c);

/// How many tasks that is.
std::uint64_t strassen_closures(const StrassenProduct& product);

}  // namespace heddle::workloads
