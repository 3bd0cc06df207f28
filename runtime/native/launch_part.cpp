// Packs a part of a launch: a line with the length of what follows, and then fields, each with its length.
#include "runtime/native/launch_part.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

#include "base/error.hpp"

namespace heddle::native {

namespace {

constexpr std::string_view title = "heddle launch-part 3 ";
constexpr std::size_t bytes_max = 4U << 20;

[[noreturn]] void refuse(const std::string& reason) {
    throw Error(fmt::format("standard input does not describe a part of a launch: {}", reason),
                "`heddle launch --hosts` starts this verb, on hosts with the same build of heddle");
}

void put(std::string& to, std::string_view field) {
    to += fmt::format("{}:", field.size());
    to += field;
}

/// Takes fields off the front.
class Fields {
public:
    explicit Fields(std::string_view text) : text_(text) {}

    std::string_view next() {
        std::size_t size = 0;
        const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), size);
        const auto digits = static_cast<std::size_t>(end - text_.data());
        if (error != std::errc{} || digits >= text_.size() || text_[digits] != ':' ||
            size > text_.size() - digits - 1)
            refuse("a field is damaged");
        const std::string_view field = text_.substr(digits + 1, size);
        text_.remove_prefix(digits + 1 + size);
        return field;
    }
    NodeId next_number() {
        const std::string_view field = next();
        NodeId value = 0;
        const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
        if (error != std::errc{} || end != field.data() + field.size()) refuse("a number is damaged");
        return value;
    }
    bool at_end() const { return text_.empty(); }

private:
    std::string_view text_;
};

char read_byte(int descriptor) {
    char byte = 0;
    for (;;) {
        const auto count = read(descriptor, &byte, 1);
        if (count == 1) return byte;
        if (count == 0) refuse("it ends too early");
        if (errno != EINTR) refuse(error_text(errno));
    }
}

}  // namespace

std::string pack(const LaunchPart& part) {
    std::string fields;
    for (const NodeId number :
         {part.first, part.count, part.nodes, part.at_start, part.local_first, part.local_count})
        put(fields, std::to_string(number));
    put(fields, part.rendezvous);
    put(fields, {reinterpret_cast<const char*>(part.key.data()), part.key.size()});
    put(fields, part.build);
    for (const std::string& word : part.argv) put(fields, word);
    return fmt::format("{}{}\n{}", title, fields.size(), fields);
}

LaunchPart read_launch_part(int descriptor) {
    std::string line;
    for (char byte = read_byte(descriptor); byte != '\n'; byte = read_byte(descriptor)) {
        line.push_back(byte);
        if (line.size() > title.size() + 20) refuse("it begins otherwise");
    }
    std::size_t size = 0;
    const char* const digits = line.data() + std::min(title.size(), line.size());
    const auto [end, error] = std::from_chars(digits, line.data() + line.size(), size);
    if (!line.starts_with(title) || error != std::errc{} || end != line.data() + line.size())
        refuse("it begins otherwise");
    if (size > bytes_max) refuse(fmt::format("{} bytes", size));
    std::string text;
    while (text.size() < size) text.push_back(read_byte(descriptor));
    Fields fields(text);
    LaunchPart part;
    part.first = fields.next_number();
    part.count = fields.next_number();
    part.nodes = fields.next_number();
    part.at_start = fields.next_number();
    part.local_first = fields.next_number();
    part.local_count = fields.next_number();
    part.rendezvous = fields.next();
    const std::string_view key = fields.next();
    if (key.size() != part.key.size()) refuse("its key has another length");
    std::memcpy(part.key.data(), key.data(), key.size());
    part.build = fields.next();
    while (!fields.at_end()) part.argv.emplace_back(fields.next());
    if (part.count == 0 || part.first >= part.nodes || part.count > part.nodes - part.first)
        refuse("its nodes are not among those of the run");
    if (part.at_start > part.nodes || part.local_first >= part.local_count ||
        part.count > part.local_count - part.local_first)
        refuse("its nodes are not among those of the host");
    if (part.argv.empty()) refuse("it names no program");
    return part;
}

}  // namespace heddle::native
