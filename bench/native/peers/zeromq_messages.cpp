// Measures messages between two processes with ZeroMQ's PAIR sockets over TCP, with unlimited queues.
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include <cstring>
#include <vector>

#include "bench/native/peers/messages_main.hpp"

namespace {

using namespace heddle::bench;

void check(bool good) {
    if (good) return;
    std::fprintf(stderr, "ZeroMQ: %s\n", zmq_strerror(zmq_errno()));
    std::_Exit(1);
}

/// A context with one socket.
struct Peer {
    void* context = zmq_ctx_new();
    void* socket = zmq_socket(context, ZMQ_PAIR);

    Peer() {
        const int unlimited = 0;
        zmq_setsockopt(socket, ZMQ_SNDHWM, &unlimited, sizeof unlimited);
        zmq_setsockopt(socket, ZMQ_RCVHWM, &unlimited, sizeof unlimited);
    }
    ~Peer() {
        zmq_close(socket);
        zmq_ctx_term(context);
    }
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;

    void send(const std::vector<char>& data) const {
        check(zmq_send(socket, data.data(), data.size(), 0) == static_cast<int>(data.size()));
    }
    void receive(std::size_t bytes) const {
        zmq_msg_t message;
        zmq_msg_init(&message);
        check(zmq_msg_recv(&message, socket, 0) == static_cast<int>(bytes));
        zmq_msg_close(&message);
    }
};

void second_side(const Exchange& exchange, int from_parent) {
    char address[256] = {};
    if (read(from_parent, address, sizeof address) <= 0) std::_Exit(1);
    const Peer peer;
    check(zmq_connect(peer.socket, address) == 0);
    const std::vector<char> data(exchange.bytes);
    peer.send(data);  // the connection is there
    for (long i = 0; i < exchange.count; ++i) {
        peer.receive(data.size());
        if (exchange.latency || i + 1 == exchange.count) peer.send(data);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const Exchange exchange = Exchange::read(argc, argv);
    int ends[2];
    if (pipe(ends)) return 1;
    const pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) {
        second_side(exchange, ends[0]);
        return 0;
    }
    {
        const Peer peer;
        check(zmq_bind(peer.socket, "tcp://127.0.0.1:*") == 0);
        char address[256] = {};
        std::size_t size = sizeof address;
        check(zmq_getsockopt(peer.socket, ZMQ_LAST_ENDPOINT, address, &size) == 0);
        if (write(ends[1], address, sizeof address) != sizeof address) return 1;
        const std::vector<char> data(exchange.bytes);
        peer.receive(data.size());
        const double start = seconds_now();
        for (long i = 0; i < exchange.count; ++i) {
            peer.send(data);
            if (exchange.latency) peer.receive(data.size());
        }
        if (!exchange.latency) peer.receive(data.size());
        exchange.report(seconds_now() - start);
    }
    waitpid(child, nullptr, 0);
    return 0;
}
