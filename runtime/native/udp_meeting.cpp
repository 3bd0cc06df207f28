// Exchanges ports and sizes by frames over TCP, and sends probes until both sides have said that they came.
// Peers that still connect to other nodes are waited for first.
#include "runtime/native/udp_meeting.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "runtime/native/frame.hpp"

namespace heddle::native {

namespace {

/// How often to send another probe, of alternating sizes.
constexpr std::chrono::milliseconds probe_period{10};

/// For the rest of a frame that has begun to come.
constexpr std::chrono::seconds rest_max{2};

constexpr Protection protection = Protection::integrity;
constexpr std::uint64_t answer_bytes_max = 64;

struct Offer {
    std::uint32_t port;
    std::uint32_t datagram_bytes;
};

Error lost(const Session& session, const std::string& failure) {
    return Error(fmt::format("{}, by UDP: {}", name_of(session.peer.rank), failure));
}

sockaddr_storage address_of(int socket, decltype(getpeername)* of, const Session& session) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    if (of(socket, reinterpret_cast<sockaddr*>(&address), &size))
        throw lost(session, fmt::format("no address of the connection: {}", error_text(errno)));
    return address;
}

/// A peer on the way to a stream. Each side sends three frames: an offer; an empty one when it has connected
/// to all of its peers, and begins to send probes; and an empty one when it has heard a probe of the agreed
/// size.
class Meeting {
public:
    Meeting(UdpPeer peer, const UdpOptions& options)
        : options_(options),
          session_(peer.session),
          control_(peer.control.get()),
          sealer_(agreement_key(session_.send_key), protection),
          opener_(agreement_key(session_.receive_key), protection, answer_bytes_max),
          peer_(std::move(peer)) {
        (void)sealer_.begin(FrameKind::datagrams, 0);  // the offer, which has been sent
        say_empty();
    }

    bool done() const { return hears_ && is_heard_; }
    UdpMet met() { return {session_, std::move(stream_)}; }
    pollfd interest() const { return {stream_ ? stream_->descriptor() : control_, POLLIN, 0}; }

    void probe() {
        if (!stream_) return;  // its port is not known yet
        stream_->probe(std::exchange(small_, !small_) ? UdpConnection::datagram_bytes_min : datagram_bytes_);
    }

    void look() {
        if (!done() && wait_until_readable(control_, Clock::now())) take(read());
        if (!stream_) return;
        const std::size_t heard = stream_->largest_probe();
        hears_anything_ = hears_anything_ || heard > 0;
        if (heard == datagram_bytes_ && !std::exchange(hears_, true)) say_empty();
    }

    /// `deadline` is for all. `datagrams_max` is for datagrams to come through once the peer has begun.
    bool is_overdue(Deadline deadline, std::chrono::milliseconds datagrams_max) const {
        const Deadline now = Clock::now();
        return !done() && (now >= deadline || (began_ && now - *began_ >= datagrams_max));
    }

    void look_for_dead_machine() const {
        if (!done() && host_is_dead(control_, host_patience))
            throw lost(session_, "its machine does not answer");
    }

    Error overdue() const {
        if (!began_)
            return Error(lost(session_, "it did not come to exchange datagrams in time").message(),
                         "see what it says, or state a longer transport.meeting_time");
        const std::string size = fmt::format("no datagram of {} bytes", datagram_bytes_);
        const std::string what = hears_ ? size + " reached it" : size + " came from there";
        if (hears_anything_ || hears_)
            return Error(lost(session_, what + ", only smaller ones").message(),
                         "state a smaller transport.udp.segment, such as 1200, or platform.transport: tcp");
        return Error(lost(session_, what).message(),
                     "a firewall must let UDP through between the hosts, at any port above 1023; or take "
                     "platform.transport: tcp");
    }

private:
    void say_empty() {
        const std::string failure = write_frame(control_, sealer_, FrameKind::datagrams, {}, Clock::now());
        if (!failure.empty()) throw lost(session_, failure);
    }

    /// Something has come. A frame is a few bytes, so its rest is there soon.
    runtime::Bytes read() {
        try {
            Frame frame = read_frame(control_, opener_, Clock::now() + rest_max);
            if (frame.kind != FrameKind::datagrams) throw Error("it answered something else");
            return std::move(frame.payload);
        } catch (const Error& error) {
            throw lost(session_, error.message());
        }
    }

    void take(const runtime::Bytes& payload) {
        if (!stream_) {
            open_stream(offer_in(payload));
        } else if (!began_ && payload.empty()) {
            began_ = Clock::now();
        } else if (!payload.empty() || std::exchange(is_heard_, true)) {
            throw lost(session_, "it answered something else");
        }
    }

    Offer offer_in(const runtime::Bytes& payload) const {
        Offer offer{};
        if (payload.size() != sizeof offer) throw lost(session_, "it answered something else");
        std::memcpy(&offer, payload.data(), sizeof offer);
        if (offer.port == 0 || offer.port > 0xffff ||
            offer.datagram_bytes < UdpConnection::datagram_bytes_min)
            throw lost(session_, "its offer makes no sense");
        return offer;
    }

    void open_stream(const Offer& offer) {
        datagram_bytes_ = std::min<std::size_t>(peer_.datagram_bytes, offer.datagram_bytes);
        peer_.socket->connect_to(
            with_port(address_of(control_, getpeername, session_), static_cast<std::uint16_t>(offer.port)));
        peer_.socket->expect(datagram_bytes_);
        std::unique_ptr<DatagramSocket> datagrams = std::move(peer_.socket);
        if (options_.wrap) datagrams = options_.wrap(std::move(datagrams));
        stream_ = std::make_unique<UdpStream>(std::move(datagrams), std::move(peer_.control), session_,
                                              datagram_bytes_);
    }

    const UdpOptions& options_;
    Session session_;
    int control_;
    Sealer sealer_;
    Opener opener_;
    UdpPeer peer_;  ///< until its offer has come
    std::size_t datagram_bytes_ = 0;
    std::unique_ptr<UdpStream> stream_;
    std::optional<Deadline> began_;  ///< when this side learnt that the peer sends probes
    bool small_ = false;             ///< the next probe is
    bool hears_ = false;             ///< a probe of the full size has come
    bool hears_anything_ = false;    ///< a probe has come
    bool is_heard_ = false;          ///< the peer says the same of ours
};

}  // namespace

UdpPeer offer_datagrams(Descriptor control, const Session& session, const UdpOptions& options) {
    auto socket = std::make_unique<UdpSocket>(address_of(control.get(), getsockname, session), options.ports);
    std::size_t largest = socket->largest_towards(address_of(control.get(), getpeername, session));
    if (options.segment != 0) largest = std::min(largest, options.segment);
    largest = std::max(largest, UdpConnection::datagram_bytes_min);
    const Offer offer{socket->port(), static_cast<std::uint32_t>(largest)};
    Sealer sealer(agreement_key(session.send_key), protection);
    // A fresh connection has room for it. A peer that is gone is missed by `meet_by_datagrams`.
    (void)write_frame(control.get(), sealer, FrameKind::datagrams, std::as_bytes(std::span(&offer, 1)),
                      Clock::now());
    return {std::move(control), session, std::move(socket), largest};
}

std::vector<UdpMet> meet_by_datagrams(std::vector<UdpPeer> peers, const UdpOptions& options,
                                      Deadline deadline, std::chrono::milliseconds datagrams_max) {
    std::vector<std::unique_ptr<Meeting>> meetings;
    for (UdpPeer& peer : peers) meetings.push_back(std::make_unique<Meeting>(std::move(peer), options));
    const auto is_done = [](const auto& meeting) { return meeting->done(); };
    while (!std::ranges::all_of(meetings, is_done)) {
        std::vector<pollfd> entries;
        for (const auto& meeting : meetings) {
            if (meeting->done()) continue;
            meeting->probe();
            entries.push_back(meeting->interest());
        }
        const Deadline next = Clock::now() + probe_period;
        while (Clock::now() < next && !std::ranges::all_of(meetings, is_done)) {
            poll(entries.data(), entries.size(), static_cast<int>(probe_period.count()));
            for (const auto& meeting : meetings) meeting->look();
        }
        for (const auto& meeting : meetings) {
            meeting->look_for_dead_machine();
            if (meeting->is_overdue(deadline, datagrams_max)) throw meeting->overdue();
        }
    }
    std::vector<UdpMet> met;
    for (const auto& meeting : meetings) met.push_back(meeting->met());
    return met;
}

}  // namespace heddle::native
