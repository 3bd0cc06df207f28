// Exchanges keys and values of a job step by the protocol PMI-1: lines of `key=value` words between a process
// and its launcher (P. Balaji and others, "PMI: A Scalable Parallel Process-Management Interface for
// Extreme-Scale Systems", 2010).
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <map>
#include <string_view>

#include "base/error.hpp"
#include "host/descriptor.hpp"
#include "runtime/native/job_space.hpp"
#include "runtime/native/membership.hpp"

namespace heddle::native {

namespace {

constexpr std::size_t line_max = 4096;

[[noreturn]] void fail(const std::string& reason) {
    throw Error(fmt::format("the launcher's PMI: {}", reason),
                "start the processes with srun --mpi=pmi2, --mpi=pmix or `heddle launch`");
}

class PmiSpace final : public JobSpace {
public:
    PmiSpace(int descriptor, ExchangeTime time) : socket_(descriptor), time_(time) {
        ask("init pmi_version=1 pmi_subversion=1", "response_to_init");
        rank_ = number_in("PMI_RANK");
        processes_ = number_in("PMI_SIZE");
        name_ = ask("get_my_kvsname", "my_kvsname")["kvsname"];
        if (name_.empty() || rank_ >= processes_) fail("it does not say which process this is");
    }
    ~PmiSpace() override {
        if (failed_) return;
        try {
            ask("finalize", "finalize_ack");
        } catch (const Error&) {  // the launcher has ended
        }
    }

    NodeId rank() const override { return rank_; }
    NodeId processes() const override { return processes_; }

    void put(const std::string& key, const std::string& value) override {
        ask(fmt::format("put kvsname={} key={}.{} value={}", name_, key, rank_, value), "put_result");
    }
    void exchange() override { ask("barrier_in", "barrier_out", time_); }
    std::string get(NodeId from, const std::string& key) override {
        return ask(fmt::format("get kvsname={} key={}.{}", name_, key, from), "get_result")["value"];
    }

private:
    using Words = std::map<std::string, std::string, std::less<>>;

    static NodeId number_in(const char* variable) {
        const char* const text = std::getenv(variable);
        const std::string_view digits = text ? text : "";
        NodeId value = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size())
            fail(fmt::format("{}={} is not a number", variable, digits));
        return value;
    }

    /// The answer, which must be the command `expected` and no failure.
    Words ask(const std::string& command, std::string_view expected, ExchangeTime time = {}) {
        const std::string line = fmt::format("cmd={}\n", command);
        for (std::size_t done = 0; done < line.size();) {
            const auto count = write(socket_.get(), line.data() + done, line.size() - done);
            if (count > 0) done += static_cast<std::size_t>(count);
            if (count < 0 && errno != EINTR) fail(host::error_text(errno));
        }
        Words words = words_of(read_line(time.value_or(meeting_time(std::max(processes_, NodeId{1})))));
        failed_ = words["cmd"] != expected;
        if (failed_) fail(fmt::format("it answered \"{}\" to \"{}\"", words["cmd"], command));
        const std::string& code = words["rc"];
        if (!code.empty() && code != "0") fail(fmt::format("\"{}\" failed with code {}", command, code));
        return words;
    }

    std::string read_line(std::chrono::milliseconds time) {
        std::string line;
        const auto deadline = std::chrono::steady_clock::now() + time;
        for (char byte = 0; line.size() < line_max;) {
            const auto left =
                std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
            pollfd entry{socket_.get(), POLLIN, 0};
            const int ready =
                poll(&entry, 1, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1 << 30)));
            failed_ = ready == 0;
            if (failed_) fail("another process of the job step did not come in time");
            if (ready < 0) continue;
            const auto count = read(socket_.get(), &byte, 1);
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) fail(count == 0 ? "the launcher has ended" : host::error_text(errno));
            if (byte == '\n') return line;
            line.push_back(byte);
        }
        fail("it wrote too long a line");
    }

    static Words words_of(std::string_view line) {
        Words words;
        while (!line.empty()) {
            const std::string_view word = line.substr(0, line.find(' '));
            line.remove_prefix(std::min(word.size() + 1, line.size()));
            const std::size_t equals = word.find('=');
            if (equals != std::string_view::npos)
                words.emplace(word.substr(0, equals), word.substr(equals + 1));
        }
        return words;
    }

    host::Descriptor socket_;
    ExchangeTime time_;
    NodeId rank_ = 0;
    NodeId processes_ = 1;
    std::string name_;
    bool failed_ = false;  ///< the launcher expects no further command
};

}  // namespace

std::unique_ptr<JobSpace> open_pmi_space(int descriptor, ExchangeTime time) {
    return std::make_unique<PmiSpace>(descriptor, time);
}

bool job_offers_space() {
    return std::getenv("PMI_FD") || std::getenv("PMIX_NAMESPACE");
}

std::unique_ptr<JobSpace> open_job_space(ExchangeTime time) {
    if (const char* const pmi = std::getenv("PMI_FD")) {
        const std::string_view digits = pmi;
        int descriptor = -1;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), descriptor);
        if (error != std::errc{} || end != digits.data() + digits.size() || descriptor < 0)
            fail(fmt::format("PMI_FD={} is not a descriptor", digits));
        return open_pmi_space(descriptor, time);
    }
    if (std::getenv("PMIX_NAMESPACE")) return open_pmix_space(time);
    return nullptr;
}

}  // namespace heddle::native
