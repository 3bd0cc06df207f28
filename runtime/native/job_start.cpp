// Connects the processes of a job step in two exchanges: first each process's public key and host, then the
// rendezvous's address and the sealed keys.
#include "runtime/native/job_start.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/assert.hpp"
#include "base/error.hpp"
#include "host/machine.hpp"
#include "runtime/native/interfaces.hpp"
#include "runtime/native/socket.hpp"

namespace heddle::native {

namespace {

static_assert(crypto_box_PUBLICKEYBYTES == 32 && crypto_box_SECRETKEYBYTES == 32);

using Bytes = std::vector<unsigned char>;

// Keys of the job space.
constexpr const char* host_word = "heddle-host";
constexpr const char* public_word = "heddle-public";
constexpr const char* cores_word = "heddle-cores";

constexpr const char* failed_word = "failed";  ///< the public key of a process that cannot take part

std::string hexadecimal(const unsigned char* bytes, std::size_t size) {
    std::string text(2 * size + 1, '\0');
    sodium_bin2hex(text.data(), text.size(), bytes, size);
    text.pop_back();
    return text;
}

/// Empty if the text is no `size` bytes.
Bytes bytes_of(const std::string& text, std::size_t size) {
    Bytes bytes(size);
    std::size_t found = 0;
    if (text.size() != 2 * size ||
        sodium_hex2bin(bytes.data(), size, text.data(), text.size(), nullptr, &found, nullptr) != 0 ||
        found != size)
        return {};
    return bytes;
}

static_assert(host::ProcessorSet().size() / 4 <= JobSpace::value_max);

/// In hexadecimal digits, the lowest processors first, without zeros at the end.
std::string text_of(const host::ProcessorSet& processors) {
    std::string text = "0";  // a value is never empty
    for (std::size_t digit = 0; digit < processors.size() / 4; ++digit) {
        unsigned value = 0;
        for (unsigned bit = 0; bit < 4; ++bit)
            if (processors.test(4 * digit + bit)) value |= 1U << bit;
        if (value == 0) continue;
        text.resize(digit + 1, '0');
        text.back() = "0123456789abcdef"[value];
    }
    return text;
}

/// What is no digit, or one too many, says nothing of processors.
host::ProcessorSet processors_from(const std::string& text) {
    host::ProcessorSet processors;
    for (std::size_t digit = 0; digit < std::min(text.size(), processors.size() / 4); ++digit) {
        const std::size_t value = std::string_view("0123456789abcdef").find(text[digit]);
        for (unsigned bit = 0; bit < 4; ++bit)
            if (value < 16 && (value >> bit & 1) != 0) processors.set(4 * digit + bit);
    }
    return processors;
}

[[noreturn]] void refuse() {
    throw Error("the run's key that process 0 sent was damaged on its way through the launcher",
                "start the run with `heddle launch`");
}

/// This machine's address as process 0's other hosts reach it. A wildcard is the address of no host.
std::string meeting_address(const std::string& stated, const std::vector<std::string>& hosts) {
    if (!stated.empty() && !is_wildcard(stated)) return stated;
    for (const std::string& host : hosts) {
        if (host == hosts[0]) continue;
        try {
            return local_address_towards(host);
        } catch (const Error& error) {
            throw Error(fmt::format("node 0, on {}, does not find {}: {}", hosts[0], host, error.message()),
                        "each host's name must lead to its address from each other host");
        }
    }
    return "127.0.0.1";
}

}  // namespace

std::string seal_key(const Key& key, const KeyPair& from, const std::string& to) {
    const std::optional<PublicKey> receiver = public_key_from(to);
    Bytes box(crypto_box_NONCEBYTES + crypto_box_MACBYTES + key.size());
    randombytes_buf(box.data(), crypto_box_NONCEBYTES);
    if (!receiver || crypto_box_easy(box.data() + crypto_box_NONCEBYTES, key.data(), key.size(), box.data(),
                                     receiver->data(), from.secret.data()) != 0)
        refuse();
    return hexadecimal(box.data(), box.size());
}

Key open_key(const std::string& sealed, const KeyPair& to, const std::string& sender) {
    Key key;
    const Bytes box = bytes_of(sealed, crypto_box_NONCEBYTES + crypto_box_MACBYTES + key.size());
    const std::optional<PublicKey> from = public_key_from(sender);
    if (box.empty() || !from ||
        crypto_box_open_easy(key.data(), box.data() + crypto_box_NONCEBYTES,
                             box.size() - crypto_box_NONCEBYTES, box.data(), from->data(),
                             to.secret.data()) != 0)
        refuse();
    return key;
}

JobRun start_by_job(JobSpace& space, const std::string& host, const JobMeeting& meeting,
                    const host::ProcessorSet& processors) {
    KeyPair own = make_key_pair();
    JobRun run;
    Membership& self = run.membership;
    self.rank = space.rank();
    self.nodes = space.processes();
    space.put(host_word, host);
    space.put(public_word, text_of(own.shown));
    space.put(cores_word, text_of(processors));
    space.exchange();
    std::vector<std::string> hosts;
    std::vector<std::string> public_keys;
    for (NodeId node = 0; node < self.nodes; ++node) {
        hosts.push_back(space.get(node, host_word));
        public_keys.push_back(space.get(node, public_word));
        if (public_keys.back() == failed_word)
            throw Error(fmt::format("node {}, on {}, cannot take part", node, hosts.back()),
                        "see what it says");
    }
    self.local_count = static_cast<std::uint32_t>(std::ranges::count(hosts, host));
    self.local_rank = static_cast<std::uint32_t>(std::count(hosts.begin(), hosts.begin() + self.rank, host));
    std::vector<host::ProcessorSet> sets;
    for (NodeId node = 0; node < self.nodes; ++node)
        if (hosts[node] == host) sets.push_back(processors_from(space.get(node, cores_word)));
    self.cores = host::core_share(sets, self.local_rank);
    if (self.rank == 0) {
        const Key key = make_key();
        self.credentials = key;
        run.rendezvous =
            std::make_unique<Rendezvous>(self.nodes, key, meeting_address(meeting.address, hosts),
                                         meeting.time.value_or(meeting_time(self.nodes)), meeting.ports);
        self.rendezvous = run.rendezvous->address();
        space.put("heddle-meet", self.rendezvous);
        for (NodeId node = 1; node < self.nodes; ++node)
            space.put(fmt::format("heddle-key-{}", node), seal_key(key, own, public_keys[node]));
    }
    space.exchange();
    if (self.rank != 0) {
        self.rendezvous = space.get(0, "heddle-meet");
        self.credentials =
            open_key(space.get(0, fmt::format("heddle-key-{}", self.rank)), own, public_keys[0]);
    }
    sodium_memzero(own.secret.data(), own.secret.size());
    self.address = local_address_towards(host_of(self.rendezvous));
    return run;
}

namespace {

std::optional<JobRun>& run_of_this_process() {
    static std::optional<JobRun> run;
    return run;
}

}  // namespace

const Membership& join_job(const JobMeeting& meeting) {
    std::optional<JobRun>& run = run_of_this_process();
    if (!run) {
        const std::unique_ptr<JobSpace> space = open_job_space(meeting.time);
        if (!space)
            throw Error("the launcher offers neither PMI nor PMIx", "start the run with `heddle launch`");
        run = start_by_job(*space, host::host_name(), meeting);
    }
    return run->membership;
}

bool fail_in_job() try {
    const std::unique_ptr<JobSpace> space = open_job_space();
    if (!space || run_of_this_process()) return !space;
    space->put(host_word, host::host_name());
    space->put(public_word, failed_word);
    space->exchange();
    return space->get(0, public_word) == failed_word;
} catch (const Error&) {
    return false;
}

std::optional<Membership> membership_by_job() {
    const std::optional<JobRun>& run = run_of_this_process();
    return run ? std::optional(run->membership) : std::nullopt;
}

}  // namespace heddle::native
