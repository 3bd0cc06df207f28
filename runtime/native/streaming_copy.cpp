// Stores whole lines of the cache past it, and the ends of a copy as usual.
#include "runtime/native/streaming_copy.hpp"

#include <algorithm>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace heddle::native {

#if defined(__SSE2__)

void copy_by_streaming(std::byte* to, std::span<const std::byte> from) {
    constexpr std::size_t line = 64;
    const std::size_t head =
        std::min((line - reinterpret_cast<std::uintptr_t>(to) % line) % line, from.size());
    if (head > 0) std::memcpy(to, from.data(), head);
    const std::byte* source = from.data() + head;
    std::byte* target = to + head;
    std::size_t left = from.size() - head;
    for (; left >= line; left -= line, source += line, target += line) {
        const auto* const words = reinterpret_cast<const __m128i*>(source);
        auto* const places = reinterpret_cast<__m128i*>(target);
        const __m128i a = _mm_loadu_si128(words), b = _mm_loadu_si128(words + 1),
                      c = _mm_loadu_si128(words + 2), d = _mm_loadu_si128(words + 3);
        _mm_stream_si128(places, a);
        _mm_stream_si128(places + 1, b);
        _mm_stream_si128(places + 2, c);
        _mm_stream_si128(places + 3, d);
    }
    if (left > 0) std::memcpy(target, source, left);
    _mm_sfence();
}

#else

void copy_by_streaming(std::byte* to, std::span<const std::byte> from) {
    if (!from.empty()) std::memcpy(to, from.data(), from.size());
}

#endif

void CopyToOtherCore::copy(std::byte* to, std::span<const std::byte> from) {
    if (from.size() < streaming_bytes_min) {
        if (!from.empty()) std::memcpy(to, from.data(), from.size());
        return;
    }
    if (until_measured_ > 0) {
        --until_measured_;
        if (streams_) return copy_by_streaming(to, from);
        std::memcpy(to, from.data(), from.size());
        return;
    }
    const auto begin = std::chrono::steady_clock::now();
    std::memcpy(to, from.data(), from.size());
    judge(from.size(), std::chrono::steady_clock::now() - begin);
}

void CopyToOtherCore::judge(std::size_t bytes, std::chrono::nanoseconds taken) {
    const bool slow =
        static_cast<double>(bytes) < slow_bytes_per_nanosecond * static_cast<double>(taken.count());
    slow_ = slow ? std::min(slow_ + 1, slow_in_a_row) : 0;
    streams_ = slow_ == slow_in_a_row;
    until_measured_ = streams_ ? rest_far : slow ? 0 : rest_near;
}

}  // namespace heddle::native
