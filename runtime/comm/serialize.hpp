// Writes values of any type as bytes and reads them back, for messages and for tasks that leave their node.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/comm/wire.hpp"

namespace heddle::runtime {

/// A type whose values are their bytes: no pointer, as far as can be seen.
template <class T>
concept PlainBytes = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_member_pointer_v<T>;

/// How a type travels. A program specializes it for its own types:
///
///     template <>
///     struct heddle::runtime::Serialize<Molecule> {
///         static void write(Writer& writer, const Molecule& molecule);
///         static Molecule read(Reader& reader);
///     };
///
/// Plain bytes, strings, and vectors and pairs of what travels need none.
template <class T>
struct Serialize {};

/// A type that can travel.
template <class T>
concept Serializable = requires(Writer& writer, Reader& reader, const T& value) {
    Serialize<T>::write(writer, value);
    { Serialize<T>::read(reader) } -> std::convertible_to<T>;
};

template <PlainBytes T>
struct Serialize<T> {
    static constexpr bool as_bytes = true;

    static void write(Writer& writer, const T& value) { writer.put(value); }
    static T read(Reader& reader) { return reader.get<T>(); }
};

/// A type whose values travel as they lie in memory: plain bytes for which the program says nothing else.
template <class T>
concept TravelsAsBytes = requires {
    Serialize<T>::as_bytes;
};

template <>
struct Serialize<std::string> {
    static void write(Writer& writer, const std::string& text) {
        writer.put_size(text.size());
        writer.put_bytes(std::as_bytes(std::span(text)));
    }
    static std::string read(Reader& reader) {
        const auto bytes = reader.get_bytes(reader.get_size());
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
};

template <Serializable First, Serializable Second>
struct Serialize<std::pair<First, Second>> {
    static void write(Writer& writer, const std::pair<First, Second>& pair) {
        Serialize<First>::write(writer, pair.first);
        Serialize<Second>::write(writer, pair.second);
    }
    static std::pair<First, Second> read(Reader& reader) {
        First first = Serialize<First>::read(reader);
        return {std::move(first), Serialize<Second>::read(reader)};
    }
};

/// An iterator over values in a message, at any address. A vector that is made of them is written once.
template <class T>
struct Unaligned {
    using iterator_category = std::random_access_iterator_tag;  // NOLINT(readability-identifier-naming)
    using value_type = T;                                       // NOLINT(readability-identifier-naming)
    using difference_type = std::ptrdiff_t;                     // NOLINT(readability-identifier-naming)
    using pointer = const T*;                                   // NOLINT(readability-identifier-naming)
    using reference = T;                                        // NOLINT(readability-identifier-naming)

    const std::byte* at;

    T operator*() const {
        T value;
        std::memcpy(&value, at, sizeof(T));
        return value;
    }
    Unaligned& operator++() {
        at += sizeof(T);
        return *this;
    }
    Unaligned operator++(int) { return {std::exchange(at, at + sizeof(T))}; }
    Unaligned& operator--() {
        at -= sizeof(T);
        return *this;
    }
    Unaligned& operator+=(std::ptrdiff_t count) {
        at += count * static_cast<std::ptrdiff_t>(sizeof(T));
        return *this;
    }
    Unaligned operator+(std::ptrdiff_t count) const {
        return {at + count * static_cast<std::ptrdiff_t>(sizeof(T))};
    }
    std::ptrdiff_t operator-(const Unaligned& other) const {
        return (at - other.at) / static_cast<std::ptrdiff_t>(sizeof(T));
    }
    bool operator==(const Unaligned&) const = default;
};

template <Serializable T>
struct Serialize<std::vector<T>> {
    static void write(Writer& writer, const std::vector<T>& values) {
        writer.put_size(values.size());
        if constexpr (TravelsAsBytes<T>) {
            writer.put_bytes(std::as_bytes(std::span(values)));
        } else {
            for (const T& value : values) Serialize<T>::write(writer, value);
        }
    }
    static std::vector<T> read(Reader& reader) {
        const std::uint64_t count = reader.get_size();
        std::vector<T> values;
        if constexpr (TravelsAsBytes<T>) {
            // A count that is too large asks for more than there is.
            const bool fits = count <= std::numeric_limits<std::size_t>::max() / sizeof(T);
            const auto bytes =
                reader.get_bytes(fits ? count * sizeof(T) : std::numeric_limits<std::size_t>::max());
            const Unaligned<T> begin{bytes.data()};
            values.assign(begin, begin + static_cast<std::ptrdiff_t>(bytes.size() / sizeof(T)));
        } else {
            // Not reserved: the count may be wrong.
            for (std::uint64_t i = 0; i < count && reader.ok(); ++i)
                values.push_back(Serialize<T>::read(reader));
        }
        return values;
    }
};

}  // namespace heddle::runtime
