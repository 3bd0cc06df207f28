// Puts the chunks that UDP brings into the order in which they were sent, and drops duplicates.
#include "runtime/native/udp_receiver.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace heddle::native {

namespace {

constexpr std::size_t spare_max = 64;

}  // namespace

void UdpReceiver::take(std::uint64_t number, std::span<const std::byte> bytes) {
    if (number < next_ || number >= reading_ + window_chunks || bytes.empty() || !slot(number).empty())
        return;
    std::vector<std::byte>& place = slot(number);
    if (!spare_.empty()) {
        place = std::move(spare_.back());
        spare_.pop_back();
    }
    place.assign(bytes.begin(), bytes.end());
    end_ = std::max(end_, number + 1);
    while (next_ < end_ && !slot(next_).empty()) ++next_;
}

std::size_t UdpReceiver::read(std::span<std::byte> room) {
    std::size_t done = 0;
    while (reading_ < next_ && done < room.size()) {
        std::vector<std::byte>& chunk = slot(reading_);
        const std::size_t count = std::min(room.size() - done, chunk.size() - read_of_first_);
        std::memcpy(room.data() + done, chunk.data() + read_of_first_, count);
        done += count;
        read_of_first_ += count;
        if (read_of_first_ < chunk.size()) break;
        read_of_first_ = 0;
        ++reading_;
        chunk.clear();
        if (spare_.size() < spare_max) spare_.push_back(std::move(chunk));
        chunk = {};
    }
    return done;
}

std::size_t UdpReceiver::write_bitmap(std::span<std::byte, window_chunks / 8> to) const {
    const auto count = static_cast<std::size_t>((end_ - next_ + 7) / 8);
    std::fill_n(to.begin(), count, std::byte{});
    for (std::uint64_t number = next_; number < end_; ++number) {
        const auto bit = static_cast<std::size_t>(number - next_);
        if (!slot(number).empty()) to[bit / 8] |= std::byte{1} << (bit % 8);
    }
    return count;
}

}  // namespace heddle::native
