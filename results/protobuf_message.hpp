// Writes messages of Protocol Buffers (protobuf.dev, "Encoding"), in which each field is a number, a type and
// a value. It has only what results/perfetto_trace.cpp needs; it reads no messages.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::results {

/// A message as its bytes. `field`: the number that the .proto file gives it.
class ProtobufMessage {
public:
    ProtobufMessage& number(std::uint32_t field, std::uint64_t value) {
        key(field, 0);
        varint(value);
        return *this;
    }
    ProtobufMessage& fixed64(std::uint32_t field, std::uint64_t value) {
        key(field, 1);
        for (int byte = 0; byte < 8; ++byte) bytes_.push_back(static_cast<char>(value >> (8 * byte) & 0xff));
        return *this;
    }
    ProtobufMessage& real(std::uint32_t field, double value) {
        return fixed64(field, std::bit_cast<std::uint64_t>(value));
    }
    ProtobufMessage& text(std::uint32_t field, std::string_view value) {
        key(field, 2);
        varint(value.size());
        bytes_ += value;
        return *this;
    }
    ProtobufMessage& message(std::uint32_t field, const ProtobufMessage& value) {
        return text(field, value.bytes_);
    }

    const std::string& bytes() const { return bytes_; }
    void clear() { bytes_.clear(); }

private:
    void key(std::uint32_t field, std::uint32_t kind) { varint(std::uint64_t{field} << 3 | kind); }
    void varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
        bytes_.push_back(static_cast<char>(value));
    }

    std::string bytes_;
};

}  // namespace heddle::results
