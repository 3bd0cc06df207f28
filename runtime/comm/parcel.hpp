// The bytes of one message as its receiver gets them: a few in place, more in a body, which is shared and not
// copied. After them may come bytes that the sender only declared. And values of any type as messages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "runtime/backend.hpp"
#include "runtime/comm/serialize.hpp"
#include "runtime/comm/wire.hpp"

namespace heddle::runtime {

class Parcel {
public:
    Parcel() = default;
    Parcel(const Parcel&) = default;
    Parcel& operator=(const Parcel&) = default;
    /// `other` is empty then.
    Parcel(Parcel&& other) noexcept
        : size_(std::exchange(other.size_, 0)),
          declared_(std::exchange(other.declared_, 0)),
          few_(other.few_),
          many_(std::move(other.many_)) {}
    Parcel& operator=(Parcel&& other) noexcept {
        size_ = std::exchange(other.size_, 0);
        declared_ = std::exchange(other.declared_, 0);
        few_ = other.few_;
        many_ = std::move(other.many_);
        return *this;
    }
    ~Parcel() = default;

    /// A copy.
    explicit Parcel(std::span<const std::byte> bytes) : size_(bytes.size()) {
        if (bytes.size() <= few_.size()) {
            if (!bytes.empty()) std::memcpy(few_.data(), bytes.data(), bytes.size());
        } else {
            many_ = std::make_shared<Bytes>(bytes.begin(), bytes.end());
        }
    }
    /// It becomes a copy.
    void assign(std::span<const std::byte> bytes) {
        if (bytes.size() > few_.size()) {
            *this = Parcel(bytes);
            return;
        }
        size_ = bytes.size();
        declared_ = 0;
        if (many_) many_.reset();
        if (size_ == sizeof(std::uint64_t)) {
            std::memcpy(few_.data(), bytes.data(), sizeof(std::uint64_t));  // in line
        } else if (size_ != 0) {
            std::memcpy(few_.data(), bytes.data(), size_);
        }
    }
    /// `size` bytes, which `write(std::byte* room)` writes.
    template <class Write>
    static Parcel written(std::uint64_t size, const Write& write) {
        Parcel parcel;
        parcel.size_ = size;
        if (size <= parcel.few_.size()) {
            write(parcel.few_.data());
        } else {
            const auto many = std::make_shared<Bytes>(size);
            write(many->data());
            parcel.many_ = many;
        }
        return parcel;
    }
    /// The body itself, also where its bytes are few: its receiver on the same node gets the same memory.
    static Parcel block(Body body) {
        Parcel parcel;
        parcel.size_ = body ? body->size() : 0;
        parcel.many_ = std::move(body);
        return parcel;
    }
    /// The body itself, or a copy of few bytes. `declared`: bytes without content that come after it. They
    /// take their time on the way.
    explicit Parcel(Body body, std::uint64_t declared = 0)
        : size_(body ? body->size() : 0), declared_(declared), many_(std::move(body)) {
        if (size_ > few_.size() || !many_) return;
        if (size_ > 0) std::memcpy(few_.data(), many_->data(), size_);
        many_.reset();
    }

    /// Of its content.
    std::uint64_t size() const { return size_; }
    std::uint64_t declared() const { return declared_; }
    std::span<const std::byte> bytes() const {
        return many_ ? std::span<const std::byte>(*many_) : std::span(few_).first(size_);
    }
    /// The bytes as a body, without a copy if there are many. The parcel has none then.
    Body take_body() {
        const auto size = static_cast<std::ptrdiff_t>(std::exchange(size_, 0));
        if (!many_) return std::make_shared<Bytes>(few_.begin(), few_.begin() + size);
        return std::move(many_);
    }

private:
    std::uint64_t size_ = 0;
    std::uint64_t declared_ = 0;
    alignas(8) std::array<std::byte, 40> few_{};
    Body many_;
};

/// A value as a body.
template <class T>
Body body_of(const T& value) {
    static_assert(Serializable<T>, "say how this type travels: specialize heddle::runtime::Serialize");
    Writer writer;
    Serialize<T>::write(writer, value);
    return writer.take_body();
}

/// The same value, in place where its bytes are few.
template <class T>
Parcel parcel_of(const T& value) {
    if constexpr (TravelsAsBytes<T>) {
        return Parcel(bytes_of(value));
    } else {
        return Parcel(body_of(value));
    }
}

/// The value that `body_of` wrote. Throws MalformedMessage if the bytes are not those of a T.
template <class T>
T value_of(const Parcel& parcel) {
    static_assert(Serializable<T>, "say how this type travels: specialize heddle::runtime::Serialize");
    Reader reader(parcel.bytes());
    T value = Serialize<T>::read(reader);
    if (!reader.done()) throw MalformedMessage("the message is no value of that type");
    return value;
}

}  // namespace heddle::runtime
