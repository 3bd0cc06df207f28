// Cuts a stream into chunks, finds those that are lost, and says when to send which.
#include "runtime/native/udp_sender.hpp"

#include <algorithm>
#include <cstring>

namespace heddle::native {

namespace {

/// Written and not acknowledged.
constexpr std::size_t buffer_bytes = 4 << 20;

/// A chunk is lost if so many that were sent after it have come (RFC 9002, section 6.1.1; in RFC 5681 they
/// are three duplicate acknowledgements).
constexpr std::uint64_t reordering = 3;

/// Where slow start ends at first: a default socket buffer takes it.
constexpr std::size_t first_threshold_bytes = 128 << 10;

/// The room that a peer has before it has said anything.
constexpr std::uint64_t first_limit = 4;

constexpr std::size_t spare_datagrams_max = 64;

}  // namespace

UdpSender::UdpSender(std::size_t chunk_bytes)
    : chunk_bytes_(chunk_bytes),
      buffered_max_(std::max(buffer_bytes, 8 * chunk_bytes)),
      limit_(first_limit),
      congestion_(static_cast<double>(std::max<std::size_t>(first_threshold_bytes / chunk_bytes, 4))) {}

// --- the writer

std::size_t UdpSender::write(std::span<const std::byte> bytes) {
    const std::size_t before = bytes.size();
    while (!bytes.empty() && buffered_ < buffered_max_) {
        const std::size_t full = chunk_bytes_ + segment_overhead;
        if (next_ == end() || chunks_.back().datagram.size() == full) {
            if (chunks_.size() >= chunks_max) break;
            add_chunk();
        }
        // The tag's place is always the end.
        std::vector<std::byte>& datagram = chunks_.back().datagram;
        const std::size_t count = std::min({bytes.size(), full - datagram.size(), buffered_max_ - buffered_});
        const std::size_t tag_bytes = segment_overhead - sizeof(SegmentHeader);
        const std::size_t place = datagram.size() - tag_bytes;
        datagram.resize(datagram.size() + count);
        std::memcpy(datagram.data() + place, bytes.data(), count);
        bytes = bytes.subspan(count);
        buffered_ += count;
    }
    return before - bytes.size();
}

void UdpSender::add_chunk() {
    Chunk& chunk = chunks_.emplace_back();
    if (!spare_.empty()) {
        chunk.datagram = std::move(spare_.back());
        spare_.pop_back();
    } else {
        chunk.datagram.reserve(chunk_bytes_ + segment_overhead);
    }
    chunk.datagram.resize(segment_overhead);
}

// --- what to send

std::optional<UdpSender::Outgoing> UdpSender::next(Deadline now) {
    if (flying_ >= congestion_.chunks() + extra_) return std::nullopt;
    while (!lost_.empty()) {
        const std::uint64_t number = lost_.front();
        lost_.pop_front();
        // It may have come after all.
        if (number >= first_ && at(number).state == State::lost) return send(number, now);
    }
    if (next_ < end() && next_ < limit_) return send(next_++, now);
    if (alarm_ == Deadline::max() && peer_has_no_room()) set_alarm(now);
    return std::nullopt;
}

UdpSender::Outgoing UdpSender::send(std::uint64_t number, Deadline now) {
    Chunk& chunk = at(number);
    chunk.repeated = chunk.state == State::lost;
    chunk.state = State::flying;
    chunk.order = ++order_;
    chunk.sent = now;
    ++flying_;
    transmissions_.emplace_back(chunk.order, number);
    if (alarm_ == Deadline::max()) set_alarm(now);
    return {number, chunk.datagram};
}

// --- what has come

void UdpSender::acknowledge(Deadline now, std::uint64_t acknowledged, std::uint32_t window,
                            std::span<const std::byte> bitmap) {
    if (acknowledged > next_) return;  // no such chunk was sent
    const bool limited = 2 * flying_ >= congestion_.chunks();
    const bool had_no_room = peer_has_no_room();
    limit_ = std::max(limit_, acknowledged + window);
    News news;
    for (std::size_t bit = 0; bit < 8 * bitmap.size(); ++bit) {
        const std::uint64_t number = acknowledged + bit;
        const bool is_set = (std::to_integer<unsigned>(bitmap[bit / 8]) >> (bit % 8) & 1U) != 0;
        if (is_set && number >= first_ && number < next_) note(at(number), news);
    }
    for (; first_ < acknowledged; ++first_) {
        Chunk& chunk = chunks_.front();
        note(chunk, news);
        buffered_ -= chunk.datagram.size() - segment_overhead;
        if (spare_.size() < spare_datagrams_max) spare_.push_back(std::move(chunk.datagram));
        chunks_.pop_front();
    }
    if (news.count == 0) {
        if (had_no_room && !peer_has_no_room()) set_alarm(now);
        return;
    }
    largest_ = std::max(largest_, news.order);
    extra_ = 0;
    probed_ = false;
    round_trip_.acknowledged();
    if (news.sent_once) round_trip_.measured(now - *news.sent_once);
    congestion_.acknowledged(news.count, limited);
    find_lost();
    set_alarm(now);
}

void UdpSender::note(Chunk& chunk, News& news) {
    if (chunk.state == State::acknowledged) return;
    if (chunk.state == State::flying) --flying_;
    chunk.state = State::acknowledged;
    ++news.count;
    news.order = std::max(news.order, chunk.order);
    if (!chunk.repeated && (!news.sent_once || chunk.sent > *news.sent_once)) news.sent_once = chunk.sent;
}

void UdpSender::lose(std::uint64_t number) {
    at(number).state = State::lost;
    --flying_;
    lost_.push_back(number);
}

void UdpSender::find_lost() {
    while (!transmissions_.empty() && transmissions_.front().first + reordering <= largest_) {
        const auto [order, number] = transmissions_.front();
        transmissions_.pop_front();
        if (number < first_ || at(number).state != State::flying || at(number).order != order) continue;
        lose(number);
        if (order <= slowed_until_) continue;
        congestion_.lost();
        slowed_until_ = order_;
    }
}

// --- time

void UdpSender::set_alarm(Deadline now) {
    const bool awaits = flying_ > 0 || first_ != next_ || peer_has_no_room();
    if (!awaits) {
        alarm_ = Deadline::max();
    } else {
        alarm_ = now + (probed_ ? round_trip_.timeout() : round_trip_.probe_time());
    }
}

bool UdpSender::pass(Deadline now) {
    if (now < alarm_) return false;
    const bool all_acknowledged = first_ == next_;
    const bool asks = all_acknowledged && peer_has_no_room();
    if (asks || probed_) round_trip_.timed_out();
    const bool probes = !std::exchange(probed_, true);
    if (all_acknowledged) {
        set_alarm(now);
        return asks;
    }
    if (probes) {
        // One chunk, the first that is missing, although the window may be full.
        extra_ = 1;
        if (at(first_).state == State::flying) lose(first_);
        if (lost_.empty() || lost_.front() != first_) lost_.push_front(first_);
    } else {
        congestion_.timed_out();
        slowed_until_ = order_;
        extra_ = 0;
        transmissions_.clear();
        lost_.clear();
        for (std::uint64_t number = first_; number < next_; ++number) {
            if (at(number).state == State::acknowledged) continue;
            at(number).state = State::lost;
            lost_.push_back(number);
        }
        flying_ = 0;
    }
    set_alarm(now);
    return false;
}

}  // namespace heddle::native
