// Hashes and packs what all processes of a run must have in common, and words the error if they differ.
#include "runtime/native/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>
#include <vector>

#include "base/fnv1a.hpp"

namespace heddle::native {

namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        lines.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

/// The lines of `first` that `second` lacks, in their order.
std::vector<std::string> only_in_first(const std::string& first, const std::string& second) {
    const auto others = lines_of(second);
    const std::set<std::string> known(others.begin(), others.end());
    std::vector<std::string> only = lines_of(first);
    std::erase_if(only, [&known](const std::string& line) { return known.contains(line); });
    return only;
}

std::string program_difference(NodeId a, const std::string& of_a, NodeId b, const std::string& of_b) {
    const auto only_a = only_in_first(of_a, of_b);
    const auto only_b = only_in_first(of_b, of_a);
    const bool a_has = !only_a.empty();
    const auto& lines = a_has ? only_a : only_b;
    const std::size_t more = only_a.size() + only_b.size() - 1;
    std::string text =
        fmt::format("node {} has the {}, and node {} does not", a_has ? a : b, lines.front(), a_has ? b : a);
    if (more > 0) text += fmt::format(" ({} more difference{})", more, more == 1 ? "" : "s");
    return text;
}

/// `key` of a line `key = value`.
std::string_view key_of(const std::string& line) {
    return std::string_view(line).substr(0, line.find(" = "));
}

std::string value_with_key(const std::vector<std::string>& lines, std::string_view key) {
    for (const std::string& line : lines)
        if (key_of(line) == key) return line.substr(std::min(line.size(), key.size() + 3));
    return "not stated";
}

std::string settings_difference(NodeId a, const std::string& of_a, NodeId b, const std::string& of_b) {
    const auto only_a = only_in_first(of_a, of_b);
    const auto only_b = only_in_first(of_b, of_a);
    if (only_a.empty() && only_b.empty())
        return "their settings are equal, but a file that they read or the build of heddle is not";
    const std::string_view key = key_of(only_a.empty() ? only_b.front() : only_a.front());
    return fmt::format("{} is {} on node {} and {} on node {}", key, value_with_key(only_a, key), a,
                       value_with_key(only_b, key), b);
}

}  // namespace

std::uint64_t Agreement::fingerprint() const {
    Fnv1a hash;
    hash.add_text(program);
    for (int shift = 0; shift < 64; shift += 8) hash.add(experiment >> shift & 0xff);
    return hash.value();
}

// The experiment and the length of the program, 8 bytes each; then the program, and the settings to the end.
constexpr std::size_t header_bytes = 2 * sizeof(std::uint64_t);

runtime::Bytes pack(const Agreement& agreement) {
    const std::uint64_t header[] = {agreement.experiment, agreement.program.size()};
    static_assert(sizeof header == header_bytes);
    runtime::Bytes bytes;
    const auto put = [&bytes](std::span<const std::byte> part) {
        bytes.insert(bytes.end(), part.begin(), part.end());
    };
    put(std::as_bytes(std::span(header)));
    put(std::as_bytes(std::span(agreement.program)));
    put(std::as_bytes(std::span(agreement.settings)));
    return bytes;
}

std::optional<Agreement> unpack_agreement(std::span<const std::byte> bytes) {
    if (bytes.size() < header_bytes) return std::nullopt;
    std::uint64_t header[2];
    std::memcpy(header, bytes.data(), header_bytes);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + header_bytes,
                                bytes.size() - header_bytes);
    if (header[1] > text.size()) return std::nullopt;
    return Agreement{std::string(text.substr(0, header[1])), header[0], std::string(text.substr(header[1]))};
}

Error disagreement(NodeId a, const Agreement& of_a, NodeId b, const Agreement& of_b) {
    if (of_a.program != of_b.program) {
        return Error(fmt::format("node {} runs another program than node {}: {}", b, a,
                                 program_difference(a, of_a.program, b, of_b.program)),
                     "start every node from the same binary");
    }
    return Error(fmt::format("node {} runs another experiment than node {}: {}", b, a,
                             settings_difference(a, of_a.settings, b, of_b.settings)),
                 "start every node with the same files and settings");
}

}  // namespace heddle::native
