// Pairs of threads that exchange messages, as in benchmarks of messages: one thread of each pair in process
// 0, its partner in the last process. Both count in the message, so a message that is lost or comes twice is
// noticed.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/memory_need.hpp"
#include "base/time.hpp"
#include "model/messaging.hpp"
#include "workloads/bare_exchange.hpp"
#include "workloads/dispatcher_settings.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads::pairs {

using messaging::Actual;
using messaging::Handle;
using messaging::Mode;
using messaging::Thread;
using messaging::ThreadId;

/// A message that begins with a number. The bytes after it are those of a pattern.
class Letter {
public:
    /// Of a letter that is received into, each byte is another one than the pattern's: bytes that do not
    /// arrive are noticed.
    enum class Content : std::uint8_t { pattern, blank };

    explicit Letter(std::uint64_t bytes, Content content = Content::pattern)
        : size_(bytes), bytes_(std::make_shared<runtime::Bytes>(bytes)) {
        const std::byte change{content == Content::blank ? std::uint8_t{0xff} : std::uint8_t{0}};
        for (std::uint64_t i = 0; i < bytes; ++i) (*bytes_)[i] = pattern(i) ^ change;
    }
    /// A copy would have the same bytes.
    Letter(const Letter&) = delete;
    Letter& operator=(const Letter&) = delete;
    Letter(Letter&&) = default;
    Letter& operator=(Letter&&) = default;
    ~Letter() = default;

    void write(std::uint64_t number) { std::memcpy(bytes_->data(), &number, head()); }
    std::uint64_t number() const {
        std::uint64_t number = 0;
        std::memcpy(&number, bytes_->data(), head());
        return number;
    }
    /// Whether what follows the number is the pattern. A block that was received may have another size.
    bool intact() const {
        if (bytes_->size() != size_) return false;
        for (std::uint64_t i = head(); i < bytes_->size(); ++i)
            if ((*bytes_)[i] != pattern(i)) return false;
        return true;
    }

    Handle begin_send(Thread& self, ThreadId to, bool dma) {
        return dma ? self.send_dma(to, 0, bytes_) : self.send_copy(to, 0, bytes_->data(), bytes_->size());
    }
    /// Receives into this letter.
    Handle begin_receive(Thread& self, const messaging::From& from, bool dma, Actual* actual = nullptr) {
        return dma ? self.recv_dma(from, &bytes_, actual)
                   : self.recv_copy(from, bytes_->data(), bytes_->size(), actual);
    }
    void send(Thread& self, ThreadId to, bool dma) {
        Handle handle = begin_send(self, to, dma);
        self.test_handle(handle, Mode::blocking);
    }
    void receive(Thread& self, const messaging::From& from, bool dma, Actual* actual = nullptr) {
        Handle handle = begin_receive(self, from, dma, actual);
        self.test_handle(handle, Mode::blocking);
    }
    /// Before it is written: a block that was sent may still be read by others.
    void own() {
        if (bytes_.use_count() != 1) bytes_ = std::make_shared<runtime::Bytes>(*bytes_);
    }

private:
    std::size_t head() const { return std::min<std::size_t>(sizeof(std::uint64_t), bytes_->size()); }
    static std::byte pattern(std::uint64_t i) { return static_cast<std::byte>(i * 7 + 3); }

    std::uint64_t size_;
    messaging::Block bytes_;
};

struct LetterCounts {
    std::uint64_t written = 0;  ///< to be sent
    std::uint64_t blank = 0;    ///< to be received into; they follow the others
};
/// Writing and reading whole letters is work of the thread, of which it declares nothing.
inline std::vector<Letter> write_letters(Thread& self, const LetterCounts& counts, std::uint64_t bytes) {
    std::vector<Letter> letters;
    self.worker().compute({}, [&] {
        for (std::uint64_t i = 0; i < counts.written; ++i) letters.emplace_back(bytes);
        for (std::uint64_t i = 0; i < counts.blank; ++i) letters.emplace_back(bytes, Letter::Content::blank);
    });
    return letters;
}
inline std::uint64_t count_damaged(Thread& self, std::span<const Letter> letters) {
    std::int64_t damaged = 0;
    self.worker().compute({}, [&] {
        damaged = std::ranges::count_if(letters, [](const Letter& one) { return !one.intact(); });
    });
    return static_cast<std::uint64_t>(damaged);
}

/// The number as a message of so few bytes has it.
inline std::uint64_t cut(std::uint64_t number, std::uint64_t bytes) {
    return bytes >= sizeof number ? number : number & ((std::uint64_t{1} << 8 * bytes) - 1);
}

/// What the first thread of a pair tells the main thread.
struct Result {
    std::uint64_t messages = 0;  ///< that it, or its partner, has received
    std::uint64_t wrong = 0;     ///< of these
    double begin = 0;            ///< on the clock of its node, in seconds
    double end = 0;
};

inline double seconds_of(const Thread& self) {
    const runtime::Worker& worker = self.worker();
    return to_seconds(worker.backend->now(worker));
}

/// Of all pairs. Their first threads have one clock, that of node 0.
struct Total {
    std::uint64_t messages = 0;
    std::uint64_t wrong = 0;
    double slowest = 0;  ///< seconds of one pair
    double span = 0;     ///< seconds from the first pair's begin to the last one's end
};

/// What a workload says of its time.
using Tell = runtime::Answer (*)(const Total& total, const Exchange& exchange);

/// Starts `first(self, partner's identifier, main thread's, exchange)` and `partner(self, exchange)` for each
/// pair, and adds the results.
template <auto first, auto partner, auto bare>
class PairsProgram final : public messaging::MessagingProgram {
public:
    using Dispatcher = std::optional<messaging::DispatcherSettings>;

    PairsProgram(const Exchange& exchange, std::uint32_t pairs, const Dispatcher& dispatcher, Tell tell)
        : exchange_(exchange), pairs_(pairs), dispatcher_(dispatcher), tell_(tell) {}

    /// The last process that there is at the beginning gets threads.
    bool may_leave() const override { return false; }
    Dispatcher dispatcher() const override { return dispatcher_; }

    void main(Thread& self) override {
        const Total total = exchange_.bare ? between_handlers(self) : between_threads(self);
        answer_ = tell_(total, exchange_);
        answer_.insert(answer_.begin(), {{"messages", static_cast<double>(total.messages)},
                                         {"wrong", static_cast<double>(total.wrong)}});
    }
    runtime::Answer answer() const override { return answer_; }

private:
    Total between_threads(Thread& self) const {
        for (std::uint32_t pair = 0; pair < pairs_; ++pair) {
            const ThreadId other = self.create<partner>(self.members().back(), exchange_);
            self.create<first>(0, other, self.id(), exchange_);
        }
        Total total;
        double begin = std::numeric_limits<double>::infinity();
        double end = 0;
        for (std::uint32_t pair = 0; pair < pairs_; ++pair) {
            const auto result = self.receive<Result>();
            total.messages += result.messages;
            total.wrong += result.wrong;
            total.slowest = std::max(total.slowest, result.end - result.begin);
            begin = std::min(begin, result.begin);
            end = std::max(end, result.end);
        }
        total.span = end - begin;
        return total;
    }
    Total between_handlers(Thread& self) const {
        const double begin = seconds_of(self);
        const BareOutcome outcome = bare(self, exchange_);
        const double seconds = seconds_of(self) - begin;
        return {outcome.messages, outcome.wrong, seconds, seconds};
    }

    Exchange exchange_;
    std::uint32_t pairs_;
    Dispatcher dispatcher_;
    Tell tell_;
    runtime::Answer answer_;
};

template <auto first, auto partner, auto bare>
class PairsWorkload final : public Workload {
public:
    PairsWorkload(const Settings& settings, std::uint64_t window, Tell tell)
        : exchange_{settings.integer<std::uint64_t>("bytes"), settings.integer<std::uint64_t>("messages"),
                    window, settings.text("dma") == "yes", settings.text("between") == "handlers"},
          pairs_(settings.integer<std::uint32_t>("pairs")),
          dispatcher_(dispatcher_of(settings)),
          where_between_(settings.where("between")),
          tell_(tell) {
        if (exchange_.bare) expect_bare(settings);
        const std::uint64_t each = std::min(exchange_.window, exchange_.messages);
        need_memory(2.0 * static_cast<double>(each) * static_cast<double>(exchange_.bytes) * pairs_,
                    fmt::format("{} pairs of threads with {} messages of {} bytes under way", pairs_, each,
                                exchange_.bytes),
                    "lower workload.bytes, workload.pairs or workload.window");
    }

    void prepare(const ClusterView& cluster, const runtime::Schedule& /*schedule*/) override {
        if (!exchange_.bare || cluster.grid.nodes > 1) return;
        throw Error("an exchange between handlers on one node",
                    "let it run on two nodes at least, or set workload.between to threads", where_between_)
            .as_refusal();
    }

    std::unique_ptr<runtime::Program> program(NodeId /*node*/) const override {
        return std::make_unique<PairsProgram<first, partner, bare>>(exchange_, pairs_, dispatcher_, tell_);
    }

    Verdict check(const runtime::RunResult& result) const override {
        return judge(
            result.answer, {{"messages", static_cast<double>(exchange_.messages) * pairs_}, {"wrong", 0}},
            exchange_.bare ? "each message has its number"
                           : "each message has its number, and the last ones the bytes that were sent");
    }

    std::vector<const runtime::TaskType*> tasks() const override { return {}; }

private:
    /// Throws Error for what only threads have. Handlers copy no bytes, whatever `dma` says.
    void expect_bare(const Settings& settings) const {
        if (pairs_ != 1)
            throw Error("several pairs, between handlers", "threads make pairs: set workload.pairs to 1",
                        settings.where("pairs"));
        if (dispatcher_)
            throw Error("a dispatcher, between handlers",
                        "it carries messages of threads: set workload.carrier to endpoints",
                        settings.where("carrier"));
        if (exchange_.bytes < bare_bytes_min)
            throw Error(fmt::format("messages of {} bytes, between handlers", exchange_.bytes),
                        fmt::format("set workload.bytes to {} or more", bare_bytes_min),
                        settings.where("bytes"));
    }

    Exchange exchange_;
    std::uint32_t pairs_;
    std::optional<messaging::DispatcherSettings> dispatcher_;
    Location where_between_;
    Tell tell_;
};

/// The settings that both workloads have.
inline std::vector<Setting> settings(std::vector<Setting> own) {
    std::vector<Setting> all{
        {"bytes", SettingKind::integer, "8", "bytes of a message", {}, 1, 1e9},
        {"messages",
         SettingKind::integer,
         "1000",
         "how many the first thread of each pair sends",
         {},
         1,
         1e9},
        {"pairs", SettingKind::integer, "1", "pairs of threads that talk at the same time", {}, 1, 1e5},
        {"dma",
         SettingKind::choice,
         "no",
         "yes: blocks that are not copied (send_dma, recv_dma)",
         {"no", "yes"}},
        {"between",
         SettingKind::choice,
         "threads",
         "handlers: no thread takes part, and each message is answered where it arrives: the bare network",
         {"threads", "handlers"}}};
    for (Setting& setting : own) all.push_back(std::move(setting));
    return with_dispatcher(std::move(all));
}

}  // namespace heddle::workloads::pairs
