// Plain values in and out of messages. Checks lengths when reading; knows no meaning. Both ends are the same
// binary, so values travel as they lie in memory.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>

#include "runtime/backend.hpp"

namespace heddle::runtime {

/// A value as it lies in memory.
template <class T>
requires std::is_trivially_copyable_v<T> std::span<const std::byte> bytes_of(const T& value) {
    return std::as_bytes(std::span(&value, 1));
}

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
    Writer& put_text(const std::string& text) {
        put(static_cast<std::uint32_t>(text.size()));
        return put_bytes(std::as_bytes(std::span(text.data(), text.size())));
    }
    std::span<const std::byte> bytes() const { return bytes_; }
    /// Room for so many bytes more.
    void reserve(std::size_t more) { bytes_.reserve(bytes_.size() + more); }

private:
    Bytes bytes_;
};

/// Reads what a Writer wrote. Beyond the end it gives zeros, and `ok()` is false from then on.
class Reader {
public:
    explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

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
    bool ok() const { return ok_; }
    bool done() const { return ok_ && rest_.empty(); }

private:
    std::span<const std::byte> rest_;
    bool ok_ = true;
};

}  // namespace heddle::runtime
