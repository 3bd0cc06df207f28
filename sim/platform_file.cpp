// Reads the text of a SimGrid platform file: removes <config>, refuses profiles, and counts hosts.
#include "sim/platform_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/input_file.hpp"

namespace heddle::sim {

namespace {

constexpr const char* advice = "it must be a platform file that SimGrid reads (version 4.1 of its format)";

/// The values of `attribute="..."` in a piece of XML.
std::vector<std::string> values_of(std::string_view attribute, std::string_view text) {
    std::vector<std::string> values;
    const std::string key = fmt::format(" {}=", attribute);
    for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
        const std::size_t open = at + key.size();
        if (open >= text.size() || (text[open] != '"' && text[open] != '\'')) continue;
        const std::size_t close = text.find(text[open], open + 1);
        if (close == std::string_view::npos) break;
        values.emplace_back(text.substr(open + 1, close - open - 1));
    }
    return values;
}

int line_of(const std::string& text, std::size_t at) {
    return 1 +
           static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

/// Speeds, bandwidths and states that change in the course of time.
void refuse_profiles(const std::string& text, const std::string& path) {
    for (const char* sign :
         {"<trace", "speed_file=", "state_file=", "bandwidth_file=", "latency_file=", "availability_file="}) {
        const std::size_t at = text.find(sign);
        if (at != std::string::npos) {
            throw Error("a platform that changes with time (traces, profiles) is not supported",
                        "take the profile out of the file", {path, line_of(text, at)});
        }
    }
}

/// How many hosts a cluster has by its `radical`: numbers and ranges of them, such as `0-9,20`. What is no
/// number is left for SimGrid to refuse.
std::uint64_t hosts_of_radical(std::string_view radical) {
    std::uint64_t hosts = 0;
    while (!radical.empty()) {
        const std::string_view part = radical.substr(0, radical.find(','));
        radical.remove_prefix(std::min(part.size() + 1, radical.size()));
        const std::string_view last_part = part.substr(std::min(part.find('-') + 1, part.size()));
        std::uint32_t first = 0;
        std::uint32_t last = 0;
        const bool read = std::from_chars(part.begin(), part.end(), first).ec == std::errc() &&
                          std::from_chars(last_part.begin(), last_part.end(), last).ec == std::errc();
        const bool range = part.find('-') != std::string_view::npos;
        hosts += read && range && last >= first ? std::uint64_t{last} - first + 1 : 1;
    }
    return hosts;
}

/// The hosts of `text`, from which comments have been taken out.
std::uint64_t count_hosts(const std::string& text, const std::string& path) {
    std::uint64_t hosts = 0;
    for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
        const std::string_view element(text.data() + at, std::min(text.find('>', at), text.size()) - at);
        if (element.starts_with("<host ")) ++hosts;
        if (element.starts_with("<cluster")) {
            for (const std::string& radical : values_of("radical", element))
                hosts += hosts_of_radical(radical);
        }
        if (hosts > Platform::nodes_max) {
            throw Error(fmt::format("the platform has more than {} hosts", Platform::nodes_max),
                        "make the clusters smaller (radical)", {path, line_of(text, at)});
        }
    }
    return hosts;
}

/// Rows of numbers: `2;4,4;1,2` has three. Empty if anything else is in the text.
std::vector<std::vector<std::uint32_t>> numbers_in(std::string_view text) {
    std::vector<std::vector<std::uint32_t>> rows(1);
    const char* at = text.data();
    const char* const end = at + text.size();
    for (;;) {
        std::uint32_t number = 0;
        const auto [rest, failure] = std::from_chars(at, end, number);
        if (failure != std::errc() || number == 0) return {};
        rows.back().push_back(number);
        if (rest == end) return rows;
        if (*rest == ';') rows.emplace_back();
        if (*rest != ';' && *rest != ',') return {};
        at = rest + 1;
    }
}

/// The shape of a file that is one regular cluster, by SimGrid's `topology` and `topo_parameters`. The reader
/// of the shape compares it with SimGrid's routes.
RouteStructure regular_cluster(const std::string& text) {
    const std::size_t at = text.find("<cluster");
    if (at == std::string::npos || text.find("<cluster", at + 1) != std::string::npos ||
        text.find("<host ") != std::string::npos)
        return {};
    const std::string_view element(text.data() + at, std::min(text.find('>', at), text.size()) - at);
    const std::vector<std::string> topology = values_of("topology", element);
    const std::vector<std::string> parameters = values_of("topo_parameters", element);
    if (topology.size() != 1 || parameters.size() != 1) return {};
    const auto rows = numbers_in(parameters.front());
    if (topology.front() == "TORUS" && rows.size() == 1)
        return {RouteStructure::Kind::torus, rows.front(), {}, {}};
    // levels; children of a switch; parents; cables to each. With several ways up, the first link varies.
    if (topology.front() == "FAT_TREE" && rows.size() == 4 && rows[2].front() == 1 && rows[3].front() == 1)
        return {RouteStructure::Kind::tree, rows[1], {}, {}};
    if (topology.front() == "DRAGONFLY" && rows.size() == 4) {
        std::vector<std::uint32_t> shape;
        for (const auto& row : rows) shape.push_back(row.front());
        return {RouteStructure::Kind::dragonfly, std::move(shape), {}, {}};
    }
    return {};
}

/// Blanks [begin, end), but not its line ends.
void blank(std::string& text, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
        if (text[i] != '\n') text[i] = ' ';
    }
}

}  // namespace

PlatformFile read_platform_file(const std::string& path, const Location& where) {
    // As much XML as a platform of 10^7 hosts that are written out one by one.
    constexpr std::uint64_t bytes_max = std::uint64_t{2} << 30;
    std::string text;
    try {
        text = read_input(path, {bytes_max, std::uint64_t{64} << 20});
    } catch (const Error& error) {
        throw Error(fmt::format("the platform file {}: {}", path, error.message()), error.advice(), where);
    }
    if (text.empty()) throw Error(fmt::format("the platform file {} is empty", path), advice, where);
    return without_config(std::move(text), path);
}

PlatformFile file_of(const Platform& platform) {
    return platform.file.empty() ? PlatformFile{} : read_platform_file(platform.file, platform.where);
}

PlatformFile without_config(std::string given, const std::string& path) {
    PlatformFile file;
    file.text = std::move(given);
    std::string& text = file.text;
    for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
        if (text.compare(at, 4, "<!--") == 0) {
            const std::size_t end = text.find("-->", at);
            if (end == std::string::npos) break;
            // Out as well, because a comment in a <config> may hold its end.
            blank(text, at, end + 3);
        } else if (text.compare(at, 7, "<config") == 0) {
            constexpr std::string_view closing = "</config>";
            std::size_t inner = at;
            while ((inner = text.find("<!--", inner)) < text.find(closing, at)) {
                const std::size_t end = text.find("-->", inner);
                if (end == std::string::npos) break;
                blank(text, inner, end + 3);
            }
            const std::size_t end = text.find(closing, at);
            if (end == std::string::npos) break;
            const std::string_view block(text.data() + at, end - at);
            const std::size_t first = block.find('>');
            for (const std::string& name : values_of("id", block.substr(std::min(first, block.size())))) {
                file.overruled.push_back(name);
            }
            blank(text, at, end + closing.size());
        }
    }
    refuse_profiles(text, path);
    file.bypasses = text.find("<bypass") != std::string::npos;
    file.hosts = count_hosts(text, path);
    file.regular = regular_cluster(text);
    return file;
}

Error platform_file_error(const std::string& complaint, const std::string& shown, const std::string& read) {
    // "Parse error at FILE:LINE: what is wrong"
    const std::size_t at = complaint.find(read + ":");
    if (at != std::string::npos) {
        const char* begin = complaint.data() + at + read.size() + 1;
        const char* end = complaint.data() + complaint.size();
        int line = 0;
        const auto [rest, failure] = std::from_chars(begin, end, line);
        if (failure == std::errc() && line > 0) {
            std::string what(rest, end);
            what.erase(0, what.find_first_not_of(": "));
            return Error(what, advice, {shown, line});
        }
    }
    const std::string first_line = complaint.substr(0, complaint.find('\n'));
    return Error(first_line, advice, {shown, 0});
}

}  // namespace heddle::sim
