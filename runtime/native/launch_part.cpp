// Packs a part of a launch: a line with the length of what follows, and then fields, each with its length.
#include "runtime/native/launch_part.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "base/error.hpp"

namespace heddle::native {

namespace {

constexpr std::string_view title = "heddle launch-part 4 ";
constexpr std::size_t bytes_max = 4U << 20;

[[noreturn]] void refuse(const std::string& reason) {
    throw Error(fmt::format("standard input does not describe a part of a launch: {}", reason),
                "`heddle launch --hosts` starts this verb, on hosts with the same build of heddle");
}

void put(std::string& to, std::string_view field) {
    to += fmt::format("{}:", field.size());
    to += field;
}

void put(std::string& to, std::initializer_list<NodeId> numbers) {
    for (const NodeId number : numbers) put(to, std::to_string(number));
}

void put(std::string& to, const HostNodes& nodes) {
    put(to, nodes.host);
    put(to, {nodes.first, nodes.count, nodes.local_first, nodes.local_count});
}

/// After its length.
template <class T>
void put(std::string& to, const std::vector<T>& list) {
    put(to, {static_cast<NodeId>(list.size())});
    for (const T& entry : list) put(to, entry);
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
    HostNodes next_nodes() {
        HostNodes nodes;
        nodes.host = next();
        for (NodeId* const number : {&nodes.first, &nodes.count, &nodes.local_first, &nodes.local_count})
            *number = next_number();
        return nodes;
    }
    /// `take` takes one entry of a list.
    void next_list(const auto& take) {
        for (NodeId left = next_number(); left > 0; --left) take();
    }
    std::vector<std::string> next_words() {
        std::vector<std::string> words;
        next_list([&] { words.emplace_back(next()); });
        return words;
    }
    bool at_end() const { return text_.empty(); }

private:
    std::string_view text_;
};

void check(const LaunchPart& part, const HostNodes& nodes) {
    if (nodes.count == 0 || nodes.first >= part.nodes || nodes.count > part.nodes - nodes.first)
        refuse("its nodes are not among those of the run");
    if (nodes.local_first >= nodes.local_count || nodes.count > nodes.local_count - nodes.local_first)
        refuse("its nodes are not among those of the host");
}

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
    put(fields, part.here);
    put(fields, {part.nodes, part.at_start, part.branches});
    put(fields, part.rendezvous);
    put(fields, std::string_view(reinterpret_cast<const char*>(part.key.data()), part.key.size()));
    put(fields, part.build);
    put(fields, part.argv);
    put(fields, part.remote_shell.before);
    put(fields, part.remote_shell.after);
    put(fields, part.further);
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
    part.here = fields.next_nodes();
    part.nodes = fields.next_number();
    part.at_start = fields.next_number();
    part.branches = fields.next_number();
    part.rendezvous = fields.next();
    const std::string_view key = fields.next();
    if (key.size() != part.key.size()) refuse("its key has another length");
    std::memcpy(part.key.data(), key.data(), key.size());
    part.build = fields.next();
    part.argv = fields.next_words();
    part.remote_shell.before = fields.next_words();
    part.remote_shell.after = fields.next_words();
    fields.next_list([&] { part.further.push_back(fields.next_nodes()); });
    if (!fields.at_end()) refuse("it has more fields");
    check(part, part.here);
    for (const HostNodes& nodes : part.further) check(part, nodes);
    if (part.at_start > part.nodes) refuse("more nodes begin than take part");
    if (part.argv.empty()) refuse("it names no program");
    if (part.branches == 0 || part.remote_shell.before.empty()) refuse("it cannot start further hosts");
    return part;
}

std::optional<NodeId> ended_node(std::string_view note) {
    if (!note.starts_with(ended_note)) return std::nullopt;
    NodeId node = 0;
    const char* const last = note.data() + note.size();
    const auto [end, error] = std::from_chars(note.data() + ended_note.size(), last, node);
    return error == std::errc{} && end == last ? std::optional(node) : std::nullopt;
}

}  // namespace heddle::native
