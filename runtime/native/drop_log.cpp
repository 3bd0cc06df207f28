// Logs the first dropped connection at once, and then a summary of the drops in each interval.
#include "runtime/native/drop_log.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

namespace heddle::native {

DropLog::DropLog(std::chrono::milliseconds interval, Write write)
    : interval_(interval), write_(std::move(write)) {
    if (!write_) write_ = [](const std::string& line) { spdlog::warn("{}", line); };
}

DropLog::~DropLog() {
    write_summary();
}

void DropLog::dropped(const std::string& address, const std::string& reason, Deadline now) {
    summarize(now);
    if (now >= interval_end_) {
        interval_end_ = now + interval_;
        write_(fmt::format("dropped a connection from {}: {}", address, reason));
        return;
    }
    const bool known = counts_.contains(reason) || counts_.size() < reasons_max;
    ++counts_[known ? reason : "another reason"];
}

Deadline DropLog::summarize(Deadline now) {
    if (counts_.empty()) return Deadline::max();
    if (now < interval_end_) return interval_end_;
    write_summary();
    // The next interval begins here, so that a stream of drops goes on to get a line an interval.
    interval_end_ = now + interval_;
    return Deadline::max();
}

void DropLog::write_summary() {
    if (counts_.empty()) return;
    std::uint64_t all = 0;
    std::string reasons;
    for (const auto& [reason, count] : counts_) {
        all += count;
        reasons += fmt::format("{}{} x {}", reasons.empty() ? "" : "; ", count, reason);
    }
    counts_.clear();
    write_(fmt::format("dropped {} more connection{}: {}", all, all == 1 ? "" : "s", reasons));
}

}  // namespace heddle::native
