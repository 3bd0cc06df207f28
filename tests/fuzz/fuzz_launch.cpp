// A fuzz target for what says where a run is launched: lists of hosts, host files, ports, and the part of a
// launch that one host carries out. The first byte of an input chooses.
#include <array>
#include <cstdlib>
#include <string_view>

#include "host/host_list.hpp"
#include "runtime/native/launch_part.hpp"
#include "runtime/native/ports.hpp"
#include "tests/fuzz/input_file.hpp"
#include "tests/fuzz/target.hpp"

namespace {

using namespace heddle;

void read_part(std::string_view text) {
    const fuzz::InputFile file(text);
    const native::LaunchPart part = native::read_launch_part(file.descriptor());
    // What is read can be sent on, and is then read again.
    const fuzz::InputFile again(native::pack(part));
    if (native::read_launch_part(again.descriptor()) != part) std::abort();
}

/// Numbers of four to six digits: a range of those may name 100,000 hosts, which takes half a second, and few
/// other inputs would be tried. host_list_test has such lists.
bool may_name_many(std::string_view text) {
    std::size_t digits = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size() && text[i] >= '0' && text[i] <= '9') {
            ++digits;
            continue;
        }
        if (digits >= 4 && digits <= 6) return true;
        digits = 0;
    }
    return false;
}

/// For readers of lists.
template <class Code>
void unless_many(const std::string& text, const Code& read) {
    if (!may_name_many(text)) read();
}

using Read = void (*)(const std::string&);

constexpr std::array<Read, 5> readers = {
    [](const std::string& text) { unless_many(text, [&] { (void)host::expand_host_list(text); }); },
    [](const std::string& text) { unless_many(text, [&] { (void)host::parse_hosts(text); }); },
    [](const std::string& text) {
        unless_many(text, [&] { (void)host::read_hostfile(fuzz::InputFile(text).path()); });
    },
    [](const std::string& text) { (void)native::parse_ports(text).text(); },
    [](const std::string& text) {
        // Most inputs would end at the length of what follows, so a part of them get the right one.
        const auto fields = text.find('\n') == std::string::npos ? 0 : text.find('\n') + 1;
        if (text.starts_with('+')) {
            const std::string rest = text.substr(fields);
            return read_part("heddle launch-part 4 " + std::to_string(rest.size()) + "\n" + rest);
        }
        read_part(text);
        (void)native::ended_node(text);
    }};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::read_by_one_of(readers, data, size);
}
