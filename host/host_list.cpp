// Takes lists of hosts apart: commas outside brackets, numbers and ranges inside.
#include "host/host_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"
#include "base/input_file.hpp"

namespace heddle::host {

namespace {

constexpr const char* list_advice = "write hosts like a,b:2 or n[01-16]:4";

[[noreturn]] void refuse(std::string_view text, const std::string& reason) {
    throw Error(fmt::format("\"{}\" is no list of hosts: {}", text, reason), list_advice);
}

/// The longest name of DNS has 253, and a user's name comes before it.
constexpr std::size_t name_max = 300;

[[noreturn]] void refuse_number(std::string_view text) {
    refuse(text, fmt::format("it names more than {} hosts", hosts_max));
}

/// The parts between commas outside brackets.
std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> parts;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i == text.size() || (text[i] == ',' && depth == 0)) {
            parts.push_back(text.substr(begin, i - begin));
            begin = i + 1;
        } else if (text[i] == '[') {
            if (++depth > 1) refuse(text, "a bracket in brackets");
        } else if (text[i] == ']') {
            if (--depth < 0) refuse(text, "a ] without its [");
        }
    }
    if (depth != 0) refuse(text, "a [ without its ]");
    return parts;
}

std::uint32_t number(std::string_view text, std::string_view all) {
    constexpr std::size_t digits_max = 10;  // all are kept, so more would make long names of a short text
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || text.size() > digits_max)
        refuse(all, fmt::format("\"{}\" is not a number", text));
    return value;
}

/// `3`, or `01-12`: each number as wide as the first is written.
void add_range(std::string_view range, std::string_view all, std::vector<std::string>& to) {
    const std::size_t dash = range.find('-');
    const std::string_view low = range.substr(0, dash);
    const std::string_view high = dash == std::string_view::npos ? low : range.substr(dash + 1);
    const std::uint32_t first = number(low, all);
    const std::uint32_t last = number(high, all);
    if (last < first || last - first >= hosts_max)
        refuse(all, fmt::format("the range {} is not one of at most {} numbers", range, hosts_max));
    if (to.size() + (last - first) >= hosts_max) refuse_number(all);
    for (std::uint64_t i = first; i <= last; ++i) to.push_back(fmt::format("{:0{}}", i, low.size()));
}

bool is_address(std::string_view name) {
    return name.starts_with('[') && name.substr(0, name.find(']')).find(':') != std::string_view::npos;
}

void check_name(std::string_view name, std::string_view all) {
    if (name.empty()) refuse(all, "a name is missing");
    // A name that began with a dash would be an option of the command that is told it.
    if (name.front() == '-') refuse(all, fmt::format("the name \"{}\" begins with a dash", name));
    const auto odd = std::ranges::find_if(name, [](char c) {
        return !(std::isalnum(static_cast<unsigned char>(c)) ||
                 std::string_view("-._@:%").find(c) != std::string_view::npos);
    });
    if (odd != name.end()) refuse(all, fmt::format("a name has no character '{}'", *odd));
}

/// The names that one part of a list stands for.
std::vector<std::string> expand(std::string_view part, std::string_view all) {
    std::vector<std::string> names{""};
    while (!part.empty()) {
        const std::size_t open = part.find('[');
        if (names.front().size() + part.substr(0, open).size() > name_max)
            refuse(all, fmt::format("a name has more than {} characters", name_max));
        for (std::string& name : names) name += part.substr(0, open);
        if (open == std::string_view::npos) break;
        const std::size_t close = part.find(']', open);
        std::vector<std::string> numbers;
        for (const std::string_view range : split(part.substr(open + 1, close - open - 1)))
            add_range(range, all, numbers);
        if (names.size() * numbers.size() > hosts_max) refuse_number(all);
        std::vector<std::string> longer;
        for (const std::string& name : names)
            for (const std::string& digits : numbers) longer.push_back(name + digits);
        names = std::move(longer);
        part.remove_prefix(close + 1);
    }
    for (const std::string& name : names) check_name(name, all);
    return names;
}

[[noreturn]] void refuse_slots(std::uint32_t slots, std::string_view text) {
    refuse(text, fmt::format("a host takes 1 to {} processes, not {}", hosts_max, slots));
}

/// Hosts in the order in which they were named first.
class Hosts {
public:
    void add(const std::string& host, std::uint32_t slots, std::string_view all) {
        if (++named_ > hosts_max) refuse_number(all);
        const auto [known, is_new] = places_.try_emplace(host, list_.size());
        if (is_new) list_.push_back({host, 0});
        std::uint32_t& sum = list_[known->second].slots;
        sum += slots;
        if (sum > hosts_max) refuse_slots(sum, all);
    }
    std::vector<HostSlots> take() && { return std::move(list_); }

private:
    std::vector<HostSlots> list_;
    std::unordered_map<std::string, std::size_t> places_;
    std::size_t named_ = 0;  // as often as they were
};

/// One part with its number of processes: `n[1-2]:4`, `[::1]:2`, `a`.
void add_part(std::string_view part, std::string_view all, Hosts& to) {
    const bool address = is_address(part);
    const std::size_t name_end = address ? part.find(']') + 1 : part.rfind(']') + 1;  // 0: no bracket
    const std::size_t colon = part.find(':', name_end);
    std::uint32_t slots = 1;
    if (colon != std::string_view::npos) {
        slots = number(part.substr(colon + 1), all);
        if (slots == 0 || slots > hosts_max) refuse_slots(slots, all);
    }
    const std::string_view name = part.substr(0, colon);
    if (!address) {
        for (const std::string& host : expand(name, all)) to.add(host, slots, all);
        return;
    }
    if (name_end != name.size()) refuse(all, "text after an address");
    const std::string_view inside = name.substr(1, name.size() - 2);
    check_name(inside, all);
    to.add(std::string(inside), slots, all);
}

/// A line of a host file, without its comment.
void add_line(std::string_view line, Hosts& to) {
    const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    std::vector<std::string_view> words;
    for (std::size_t i = 0; i < line.size();) {
        const std::size_t begin = i;
        while (i < line.size() && !is_space(line[i])) ++i;
        if (i > begin) words.push_back(line.substr(begin, i - begin));
        while (i < line.size() && is_space(line[i])) ++i;
    }
    if (words.empty()) return;
    std::string text(words[0]);
    for (std::size_t i = 1; i < words.size(); ++i) {
        constexpr std::string_view slots = "slots=";
        if (i > 1 || !words[i].starts_with(slots))
            refuse(line, fmt::format("\"{}\" after the host is not slots=N", words[i]));
        if (split(text).size() > 1)
            refuse(line, fmt::format("{} after several names; write it after each, like a:2,b:2", words[i]));
        text += fmt::format(":{}", words[i].substr(slots.size()));
    }
    for (const std::string_view part : split(text)) add_part(part, line, to);
}

}  // namespace

std::vector<std::string> expand_host_list(std::string_view text) {
    std::vector<std::string> names;
    for (const std::string_view part : split(text)) {
        for (std::string& name : expand(part, text)) names.push_back(std::move(name));
        if (names.size() > hosts_max) refuse_number(text);
    }
    return names;
}

std::vector<HostSlots> parse_hosts(std::string_view text) {
    Hosts hosts;
    for (const std::string_view part : split(text)) add_part(part, text, hosts);
    return std::move(hosts).take();
}

std::vector<HostSlots> read_hostfile(const std::filesystem::path& path) {
    const std::string text = read_input(path.string(), {.file_bytes = 16U << 20, .stream_bytes = 16U << 20});
    Hosts hosts;
    int line_number = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string_view line = std::string_view(text).substr(begin, end - begin);
        ++line_number;
        begin = end + 1;
        try {
            add_line(line.substr(0, line.find('#')), hosts);
        } catch (const Error& error) {
            throw error.at({path.string(), line_number});
        }
    }
    std::vector<HostSlots> named = std::move(hosts).take();
    if (named.empty())
        throw Error("the file names no host", "write one host in each line", {path.string(), 0});
    return named;
}

}  // namespace heddle::host
