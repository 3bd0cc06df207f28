// Reads this process's number, the number of nodes and the run's key from what the launcher has left.
#include "runtime/native/membership.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/assert.hpp"
#include "base/error.hpp"
#include "runtime/native/socket.hpp"

namespace heddle::native {

namespace {

constexpr const char* launch_advice = "start the run with `heddle launch`, which sets all of them";

std::string text_from(const char* variable) {
    const char* value = std::getenv(variable);
    if (!value || !*value)
        throw Error(fmt::format("{} is not set although {} is", variable, environment::rank), launch_advice);
    return value;
}

std::uint32_t number_from(const char* variable) {
    const std::string text = text_from(variable);
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        throw Error(fmt::format("{}={} is not a number", variable, text), launch_advice);
    return value;
}

bool is_set(const char* variable) {
    const char* value = std::getenv(variable);
    return value && *value;
}

}  // namespace

std::chrono::milliseconds meeting_time(NodeId nodes) {
    return std::chrono::seconds(10) + std::chrono::milliseconds(100) * nodes;
}

std::optional<Membership> membership_from_environment() {
    if (!is_set(environment::rank)) return std::nullopt;
    Membership membership;
    membership.rank = number_from(environment::rank);
    membership.nodes = number_from(environment::nodes);
    if (membership.rank >= membership.nodes)
        throw Error(fmt::format("{}={} although there are {} nodes", environment::rank, membership.rank,
                                membership.nodes),
                    "ranks count from 0");
    // If the environment does not say how many processes share this machine, all might.
    membership.local_rank =
        is_set(environment::local_rank) ? number_from(environment::local_rank) : membership.rank;
    membership.local_count =
        is_set(environment::local_count) ? number_from(environment::local_count) : membership.nodes;
    if (membership.local_rank >= membership.local_count)
        throw Error(fmt::format("{}={} although {} processes are on this machine", environment::local_rank,
                                membership.local_rank, membership.local_count));
    membership.rendezvous = text_from(environment::rendezvous);
    (void)host_of(membership.rendezvous);
    if (is_set(environment::address)) membership.address = text_from(environment::address);
    membership.key = read_key_file(text_from(environment::key_file));
    return membership;
}

Key make_key() {
    HEDDLE_ASSERT(sodium_init() >= 0);
    Key key;
    randombytes_buf(key.data(), key.size());
    return key;
}

namespace {

bool write_hexadecimal(const Descriptor& file, const Key& key) {
    std::array<char, 2 * sizeof(Key) + 1> text;
    sodium_bin2hex(text.data(), text.size(), key.data(), key.size());
    text.back() = '\n';
    return write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

}  // namespace

KeyInMemory keep_in_memory(const Key& key) {
    Descriptor file(memfd_create("heddle-key", MFD_CLOEXEC));
    if (!file || fchmod(file.get(), 0600) || !write_hexadecimal(file, key))
        throw Error(fmt::format("cannot keep the run's key in memory: {}", error_text(errno)));
    std::string path = fmt::format("/proc/{}/fd/{}", getpid(), file.get());
    return {std::move(file), std::move(path)};
}

void write_key_file(const std::filesystem::path& path, const Key& key) {
    const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file || !write_hexadecimal(file, key))
        throw Error(fmt::format("cannot write the key file {}: {}", path.string(), error_text(errno)));
}

Key read_key_file(const std::filesystem::path& path) {
    const Location where{path.string(), 0};
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!file || fstat(file.get(), &status))
        throw Error(fmt::format("cannot read the run's key: {}", error_text(errno)), {}, where);
    if (!S_ISREG(status.st_mode) || (status.st_mode & 077))
        throw Error("the run's key is open to others", "chmod 600 the key file, and make a new key", where);
    std::array<char, 256> text;
    const auto count = read(file.get(), text.data(), text.size());
    std::string_view hex(text.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    while (!hex.empty() && (hex.back() == '\n' || hex.back() == '\r' || hex.back() == ' '))
        hex.remove_suffix(1);
    Key key;
    std::size_t size = 0;
    if (hex.size() != 2 * key.size() ||
        sodium_hex2bin(key.data(), key.size(), hex.data(), hex.size(), nullptr, &size, nullptr) ||
        size != key.size())
        throw Error("not a key: 64 hexadecimal digits are expected", {}, where);
    return key;
}

}  // namespace heddle::native
