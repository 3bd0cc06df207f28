// Counts the cache lines of a copy from its strides, and copies piece by piece.
#include "runtime/core/copy.hpp"

#include <cmath>
#include <cstddef>
#include <cstring>

namespace heddle::runtime {

namespace {

/// Of `count` pieces of `each` bytes, `stride` apart.
double lines_of(double count, double each, double stride, double line) {
    const auto spanned = [line](double span) { return std::ceil(span / line); };
    return stride >= line ? count * spanned(each) : spanned((count - 1) * stride + each);
}

/// One side of a copy, with sweeps and pieces that follow each other without a gap joined into longer ones.
struct Side {
    Side(const Copy& copy, const Copy::Strides& strides)
        : bytes(copy.bytes),
          inner(copy.inner),
          outer(copy.outer),
          piece(strides.piece),
          sweep(strides.sweep) {
        if (inner == 1) {
            inner = outer;
            piece = sweep;
            outer = 1;
        }
        if (outer > 1 && sweep == inner * piece) {
            inner *= outer;
            outer = 1;
        }
        if (inner > 1 && piece == bytes) {
            bytes *= inner;
            inner = outer;
            piece = sweep;
            outer = 1;
        }
    }

    /// `kept`: a line that a sweep has used is still in the cache in the next one.
    double lines(double line, bool kept) const {
        const double one = lines_of(static_cast<double>(inner), static_cast<double>(bytes),
                                    static_cast<double>(piece), line);
        const auto sweeps = static_cast<double>(outer), apart = static_cast<double>(sweep);
        if (outer == 1 || apart >= line || !kept) return sweeps * one;
        // The sweeps' pieces lie within each other's lines.
        const double span = (sweeps - 1) * apart + static_cast<double>(bytes);
        if (static_cast<double>(piece) < line)
            return std::ceil((static_cast<double>(inner - 1) * static_cast<double>(piece) + span) / line);
        return static_cast<double>(inner) * std::ceil(span / line);
    }

    std::uint64_t bytes, inner, outer, piece, sweep;
};

template <std::size_t size>
void copy_elements(const Copy& copy, std::byte* to, const std::byte* from) {
    for (std::uint64_t i = 0; i < copy.outer; ++i) {
        std::byte* write = to + i * copy.to.sweep;
        const std::byte* read = from + i * copy.from.sweep;
        for (std::uint64_t j = 0; j < copy.inner; ++j, write += copy.to.piece, read += copy.from.piece)
            std::memcpy(write, read, size);
    }
}

}  // namespace

double Copy::bytes_moved(const Cache& cache) const {
    if (bytes == 0 || inner == 0 || outer == 0) return 0;
    if (inner == 1 && outer == 1) {
        const std::uint64_t lines = (bytes + cache.line - 1) / cache.line;
        return static_cast<double>(2 * lines * cache.line);
    }
    const Side target(*this, to), source(*this, from);
    const auto line = static_cast<double>(cache.line);
    const auto of_sweep = [&](const Strides& strides) {
        return lines_of(static_cast<double>(inner), static_cast<double>(bytes),
                        static_cast<double>(strides.piece), line);
    };
    const bool kept = (of_sweep(to) + of_sweep(from)) * line <= static_cast<double>(cache.bytes);
    return (target.lines(line, kept) + source.lines(line, kept)) * line;
}

void Copy::carry_out(void* target, const void* source) const {
    auto* const to_begin = static_cast<std::byte*>(target);
    const auto* const from_begin = static_cast<const std::byte*>(source);
    // Elements get loops of their own, in which a copy is a load and a store instead of a call.
    if (bytes == 4) return copy_elements<4>(*this, to_begin, from_begin);
    if (bytes == 8) return copy_elements<8>(*this, to_begin, from_begin);
    if (bytes == 16) return copy_elements<16>(*this, to_begin, from_begin);
    for (std::uint64_t i = 0; i < outer; ++i) {
        for (std::uint64_t j = 0; j < inner; ++j) {
            std::memcpy(to_begin + i * to.sweep + j * to.piece, from_begin + i * from.sweep + j * from.piece,
                        bytes);
        }
    }
}

}  // namespace heddle::runtime
