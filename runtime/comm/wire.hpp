// Writes plain values into messages and reads them out, with a check of lengths. Sender and receiver are the
// same binary, so a value travels as it lies in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "base/assert.hpp"
#include "base/error.hpp"
#include "runtime/backend.hpp"

namespace heddle::runtime {

/// A value as it lies in memory.
template <class T>
requires std::is_trivially_copyable_v<T> std::span<const std::byte> bytes_of(const T& value) {
    return std::as_bytes(std::span(&value, 1));
}

/// The escape before a size of 64 bits.
inline constexpr std::uint32_t long_size = 0xffff'ffff;

class Writer {
public:
    template <class T>
    requires std::is_trivially_copyable_v<T> Writer& put(const T& value) {
        return put_bytes(bytes_of(value));
    }
    Writer& put_bytes(std::span<const std::byte> bytes) {
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
        return *this;
    }
    /// The same. A writer that has nothing yet takes the memory over.
    Writer& put_bytes(Bytes&& bytes) {
        if (!bytes_.empty()) return put_bytes(std::span<const std::byte>(bytes));
        bytes_ = std::move(bytes);
        return *this;
    }
    Writer& put_text(const std::string& text) {
        const auto length = static_cast<std::uint32_t>(text.size());
        HEDDLE_ASSERT(length == text.size());
        put(length);
        return put_bytes(std::as_bytes(std::span(text.data(), text.size())));
    }
    /// A number of bytes: 32 bits, or an escape and 64 bits.
    Writer& put_size(std::uint64_t size) {
        if (size < long_size) return put(static_cast<std::uint32_t>(size));
        return put(long_size).put(size);
    }
    std::span<const std::byte> bytes() const { return bytes_; }
    /// The bytes as a body, without a copy. The writer is empty afterwards.
    Body take_body() { return std::make_shared<Bytes>(std::exchange(bytes_, {})); }
    /// Room for so many bytes more.
    void reserve(std::size_t more) { bytes_.reserve(bytes_.size() + more); }

private:
    Bytes bytes_;
};

/// A message is not what its handler reads. Thrown by handlers; Node adds the handler's name.
class MalformedMessage : public Error {
public:
    using Error::Error;
};

/// Reads what a Writer wrote. Beyond the end it gives zeros, and `ok()` is false from then on: a handler
/// calls `check()` before it uses what it has read.
class Reader {
public:
    explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}
    /// Of a message's body, or of nothing. The caller keeps `body` where it is.
    explicit Reader(const Body& body)
        : rest_(body ? std::span<const std::byte>(*body) : std::span<const std::byte>()),
          body_(body ? &body : nullptr) {}

    template <class T>
    requires std::is_trivially_copyable_v<T> T get() {
        T value{};
        const auto bytes = get_bytes(sizeof(T));
        if (ok_) std::memcpy(&value, bytes.data(), sizeof(T));
        return value;
    }
    std::span<const std::byte> get_bytes(std::size_t count) {
        if (count > rest_.size()) {
            ok_ = false;
            rest_ = {};
            return {};
        }
        const auto bytes = rest_.first(count);
        rest_ = rest_.subspan(count);
        return bytes;
    }
    std::span<const std::byte> get_rest() { return get_bytes(rest_.size()); }
    std::string get_text() {
        const auto bytes = get_bytes(get<std::uint32_t>());
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
    /// What Writer::put_size wrote.
    std::uint64_t get_size() {
        const auto size = get<std::uint32_t>();
        return size == long_size ? get<std::uint64_t>() : size;
    }
    bool ok() const { return ok_; }

    /// Throws MalformedMessage if the message ended before what was read.
    void check() const {
        if (!ok_) [[unlikely]]
            throw MalformedMessage("it is too short");
    }
    bool done() const { return ok_ && rest_.empty(); }

    /// Keeps what `get_bytes` has given beyond the reader's own life. Null: they are no body's.
    Body keeper() const { return body_ ? *body_ : nullptr; }

private:
    std::span<const std::byte> rest_;
    const Body* body_ = nullptr;
    bool ok_ = true;
};

/// A message that is one value. Throws MalformedMessage if its length is another.
template <class T>
requires std::is_trivially_copyable_v<T> T value_in(std::span<const std::byte> message) {
    if (message.size() != sizeof(T)) [[unlikely]]
        throw MalformedMessage(message.size() < sizeof(T) ? "it is too short" : "it is too long");
    T value;
    std::memcpy(&value, message.data(), sizeof(T));
    return value;
}

}  // namespace heddle::runtime
