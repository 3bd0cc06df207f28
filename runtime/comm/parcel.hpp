// The bytes of one message as its receiver gets them: a few in place, more in a body, which is shared and not
// copied. And how values of any type become bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/wire.hpp"

namespace heddle::runtime {

class Parcel {
public:
    Parcel() = default;

    /// A copy.
    explicit Parcel(std::span<const std::byte> bytes) : size_(bytes.size()) {
        if (bytes.size() <= few_.size()) {
            if (!bytes.empty()) std::memcpy(few_.data(), bytes.data(), bytes.size());
        } else {
            many_ = std::make_shared<Bytes>(bytes.begin(), bytes.end());
        }
    }
    /// The body itself.
    explicit Parcel(Body body) : size_(body ? body->size() : 0), many_(std::move(body)) {
        if (size_ > few_.size() || !many_) return;
        if (size_ > 0) std::memcpy(few_.data(), many_->data(), size_);
        many_.reset();
    }

    std::uint64_t size() const { return size_; }
    std::span<const std::byte> bytes() const {
        return many_ ? std::span<const std::byte>(*many_) : std::span(few_).first(size_);
    }
    /// The bytes as a body, without a copy if there are many.
    Body take_body() {
        if (!many_)
            return std::make_shared<Bytes>(few_.begin(), few_.begin() + static_cast<std::ptrdiff_t>(size_));
        return std::move(many_);
    }

private:
    std::uint64_t size_ = 0;
    alignas(8) std::array<std::byte, 40> few_{};
    Body many_;
};

/// How a type travels. A program specializes it for its own types:
///
///     template <>
///     struct Serialize<Molecule> {
///         static void write(Writer& writer, const Molecule& molecule);
///         static Molecule read(Reader& reader);
///     };
///
/// Plain bytes, strings, and vectors and pairs of what travels need none.
template <class T>
struct Serialize {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>,
                  "say how this type travels: specialize heddle::runtime::Serialize for it");
    static void write(Writer& writer, const T& value) { writer.put(value); }
    static T read(Reader& reader) { return reader.get<T>(); }
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

template <class First, class Second>
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

template <class T>
struct Serialize<std::vector<T>> {
    static void write(Writer& writer, const std::vector<T>& values) {
        writer.put_size(values.size());
        if constexpr (std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>) {
            writer.put_bytes(std::as_bytes(std::span(values)));
        } else {
            for (const T& value : values) Serialize<T>::write(writer, value);
        }
    }
    static std::vector<T> read(Reader& reader) {
        const std::uint64_t count = reader.get_size();
        std::vector<T> values;
        if constexpr (std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>) {
            // A count that is too large asks for more than there is.
            const bool fits = count <= std::numeric_limits<std::size_t>::max() / sizeof(T);
            const auto bytes =
                reader.get_bytes(fits ? count * sizeof(T) : std::numeric_limits<std::size_t>::max());
            values.resize(bytes.size() / sizeof(T));
            if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
        } else {
            // Not reserved: the count may be wrong.
            for (std::uint64_t i = 0; i < count && reader.ok(); ++i)
                values.push_back(Serialize<T>::read(reader));
        }
        return values;
    }
};

/// A value as a body.
template <class T>
Body body_of(const T& value) {
    Writer writer;
    Serialize<T>::write(writer, value);
    return std::make_shared<Bytes>(writer.bytes().begin(), writer.bytes().end());
}

/// The value that `body_of` wrote. Throws MalformedMessage if the bytes are not those of a T.
template <class T>
T value_of(const Parcel& parcel) {
    Reader reader(parcel.bytes());
    T value = Serialize<T>::read(reader);
    if (!reader.done()) throw MalformedMessage("the message is no value of that type");
    return value;
}

}  // namespace heddle::runtime
