// Exchanges ports and sizes by frames over TCP, and sends probes until both sides have said that they came.
#include "runtime/native/udp_meeting.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "runtime/native/frame.hpp"

namespace heddle::native {

namespace {

/// How often to send another probe, of alternating sizes.
constexpr std::chrono::milliseconds probe_period{10};

constexpr Protection protection = Protection::integrity;
constexpr std::uint64_t answer_bytes_max = 64;

struct Offer {
    std::uint32_t port;
    std::uint32_t datagram_bytes;
};

Error lost(const Session& session, const std::string& failure) {
    return Error(fmt::format("{}, by UDP: {}", name_of(session.peer.rank), failure));
}

sockaddr_storage address_of(int socket, decltype(getpeername)* of) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    if (of(socket, reinterpret_cast<sockaddr*>(&address), &size))
        throw Error(fmt::format("no address of a connection: {}", error_text(errno)));
    return address;
}

/// A peer on the way to a stream. Each side sends two frames: an offer, and an empty one when it has heard a
/// probe of the agreed size.
class Meeting {
public:
    Meeting(UdpPeer peer, const UdpOptions& options, Deadline deadline)
        : session_(peer.session),
          control_(peer.control.get()),
          opener_(agreement_key(session_.receive_key), protection, answer_bytes_max) {
        const Offer offer = read_offer(deadline);
        datagram_bytes_ = std::min<std::size_t>(peer.datagram_bytes, offer.datagram_bytes);
        peer.socket->connect_to(
            with_port(address_of(control_, getpeername), static_cast<std::uint16_t>(offer.port)));
        peer.socket->expect(datagram_bytes_);
        std::unique_ptr<DatagramSocket> datagrams = std::move(peer.socket);
        if (options.wrap) datagrams = options.wrap(std::move(datagrams));
        stream_ = std::make_unique<UdpStream>(std::move(datagrams), std::move(peer.control), session_,
                                              datagram_bytes_);
    }

    bool done() const { return hears_ && is_heard_; }
    UdpMet met() { return {session_, std::move(stream_)}; }
    pollfd interest() const { return {stream_->descriptor(), POLLIN, 0}; }

    void probe() {
        stream_->probe(std::exchange(small_, !small_) ? UdpConnection::datagram_bytes_min : datagram_bytes_);
    }

    void look(Deadline deadline) {
        const std::size_t heard = stream_->largest_probe();
        hears_anything_ = hears_anything_ || heard > 0;
        if (heard == datagram_bytes_ && !std::exchange(hears_, true)) {
            // The second of this session's frames: the first was the offer.
            Sealer sealer(agreement_key(session_.send_key), protection);
            (void)sealer.begin(FrameKind::datagrams, 0);
            if (const auto failure = write_frame(control_, sealer, FrameKind::datagrams, {}, Clock::now());
                !failure.empty())
                throw lost(session_, failure);
        }
        if (!done() && wait_until_readable(control_, Clock::now())) {
            (void)read(deadline);
            if (std::exchange(is_heard_, true)) throw lost(session_, "it answered something else");
        }
    }

    Error overdue() const {
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
    runtime::Bytes read(Deadline deadline) {
        try {
            Frame frame = read_frame(control_, opener_, deadline);
            if (frame.kind != FrameKind::datagrams) throw Error("it answered something else");
            return std::move(frame.payload);
        } catch (const Error& error) {
            throw lost(session_, error.message());
        }
    }

    Offer read_offer(Deadline deadline) {
        const runtime::Bytes payload = read(deadline);
        Offer offer{};
        if (payload.size() != sizeof offer) throw lost(session_, "it answered something else");
        std::memcpy(&offer, payload.data(), sizeof offer);
        if (offer.port == 0 || offer.port > 0xffff ||
            offer.datagram_bytes < UdpConnection::datagram_bytes_min)
            throw lost(session_, "its offer makes no sense");
        return offer;
    }

    Session session_;
    int control_;
    Opener opener_;
    std::size_t datagram_bytes_ = 0;
    std::unique_ptr<UdpStream> stream_;
    bool small_ = false;           ///< the next probe is
    bool hears_ = false;           ///< a probe of the full size has come
    bool hears_anything_ = false;  ///< a probe has come
    bool is_heard_ = false;        ///< the peer says the same of ours
};

}  // namespace

UdpPeer offer_datagrams(Descriptor control, const Session& session, const UdpOptions& options) {
    auto socket = std::make_unique<UdpSocket>(address_of(control.get(), getsockname), options.ports);
    std::size_t largest = socket->largest_towards(address_of(control.get(), getpeername));
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
                                      Deadline deadline) {
    std::vector<std::unique_ptr<Meeting>> meetings;
    for (UdpPeer& peer : peers)
        meetings.push_back(std::make_unique<Meeting>(std::move(peer), options, deadline));
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
            for (const auto& meeting : meetings) meeting->look(deadline);
        }
        if (Clock::now() < deadline) continue;
        for (const auto& meeting : meetings)
            if (!meeting->done()) throw meeting->overdue();
    }
    std::vector<UdpMet> met;
    for (const auto& meeting : meetings) met.push_back(meeting->met());
    return met;
}

}  // namespace heddle::native
