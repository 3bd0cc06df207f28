// Sends each message by MPI or by streams, as the network between its two nodes says.
#include "runtime/native/mixed_transport.hpp"

#include <utility>

namespace heddle::native {

MixedTransport::MixedTransport(const MeshOptions& mesh, const MpiMeshOptions& mpi,
                               std::shared_ptr<const NetworkRoutes> routes)
    : rank_(mesh.membership.rank), routes_(std::move(routes)), streams_(mesh), mpi_(mpi) {
    for (const MeshNetwork& network : mesh.networks) by_mpi_.push_back(network.by_mpi);
}

Transport& MixedTransport::carrier(NetworkId network) {
    if (by_mpi_[network]) return mpi_;
    return streams_;
}

void MixedTransport::start(Events events) {
    const auto in_turn = [this](auto event) {
        return [this, event = std::move(event)](auto&&... arguments) {
            const std::lock_guard lock(turn_);
            return event(std::forward<decltype(arguments)>(arguments)...);
        };
    };
    const Events turns{in_turn(std::move(events.deliver)), in_turn(std::move(events.control)),
                       std::move(events.lost), std::move(events.gone), in_turn(std::move(events.room))};
    streams_.start(turns);
    mpi_.start(turns);
}

void MixedTransport::post(NodeId to, FrameKind kind, runtime::Bytes payload, runtime::SentBody body) {
    carrier(routes_->between(rank_, to).front()).post(to, kind, std::move(payload), std::move(body));
}

void MixedTransport::send(NodeId to, NetworkId network, runtime::Bytes&& message, runtime::SentBody&& body,
                          Sender sender) {
    carrier(network).send(to, network, std::move(message), std::move(body), sender);
}

void MixedTransport::pad(NodeId to, NetworkId network, std::uint64_t bytes, Sender sender) {
    carrier(network).pad(to, network, bytes, sender);
}

// Nothing is under way any more, so it does not matter which parts first.
bool MixedTransport::part() {
    return streams_.part() && mpi_.part();
}

void MixedTransport::end_all(int exit_code) {
    mpi_.end_all(exit_code);
}

}  // namespace heddle::native
