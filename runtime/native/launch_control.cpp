// Serves requests for more processes of a running launch. They come from the program's own nodes, or from
// `heddle launch --join` through a Unix socket.
#include "runtime/native/launch_control.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <exception>
#include <fstream>
#include <future>
#include <mutex>
#include <sstream>
#include <string_view>
#include <thread>

#include "base/error.hpp"
#include "runtime/native/socket.hpp"
#include "runtime/native/unix_socket.hpp"

namespace heddle::native {

// --- the queue

namespace {

constexpr const char* refusal_at_end = "-the run is about to end";
constexpr const char* refusal_of_silence =
    "-the launch does not answer; it may wait to write to its standard error";

/// `started`: the answer so far.
std::string refusal_after(const std::string& started, const std::string& reason) {
    return fmt::format("-{}{}", started.empty() ? "" : started.substr(1) + "; then: ", reason);
}

}  // namespace

struct StartQueue::State {
    struct Asked {
        StartRequest request;
        std::optional<std::promise<std::string>> answer;
        std::uint64_t number = 0;  ///< of those that are answered
    };

    NodeId at_start;
    std::vector<bool> started;  ///< the thread that serves
    host::Descriptor event = host::make_event();
    std::mutex mutex;
    bool closed = false;
    std::vector<Asked> waiting;
    std::uint64_t asked = 0;  ///< so many that are answered

    std::vector<NodeId> free() const {
        std::vector<NodeId> nodes;
        for (NodeId node = 0; node < started.size(); ++node)
            if (!started[node]) nodes.push_back(node);
        return nodes;
    }

    /// Those that the request means and that can be started.
    std::vector<NodeId> meant(const StartRequest& request) const {
        std::vector<NodeId> nodes = free();
        if (request.node) {
            std::erase_if(nodes, [&](NodeId node) { return node != *request.node; });
        } else if (nodes.size() > request.count) {
            nodes.resize(request.count);
        }
        return nodes;
    }

    std::string refusal(NodeId count) const {
        const std::size_t left = free().size();
        return fmt::format(
            "-{} of the run's {} nodes {} not been started, and {} {} asked for; a launch with a larger "
            "--capacity has more",
            left == 0 ? "none" : std::to_string(left), started.size(), left == 1 ? "has" : "have", count,
            count == 1 ? "is" : "are");
    }
};

StartQueue::StartQueue(Places places) : state_(std::make_unique<State>()) {
    state_->at_start = places.at_start;
    state_->started.resize(places.capacity);
    std::fill_n(state_->started.begin(), places.at_start, true);
}

StartQueue::~StartQueue() = default;

const host::Descriptor& StartQueue::event() const {
    return state_->event;
}

void StartQueue::ask(const StartRequest& request) {
    {
        const std::lock_guard lock(state_->mutex);
        if (state_->closed) return;
        state_->waiting.push_back({request, std::nullopt, 0});
    }
    host::signal_event(state_->event);
}

std::string StartQueue::ask_and_wait(NodeId count, std::chrono::milliseconds patience) {
    std::future<std::string> answer;
    std::uint64_t number = 0;
    {
        const std::lock_guard lock(state_->mutex);
        if (state_->closed) return refusal_at_end;
        number = ++state_->asked;
        auto& asked =
            state_->waiting.emplace_back(State::Asked{{count, {}}, std::promise<std::string>(), number});
        answer = asked.answer->get_future();
    }
    host::signal_event(state_->event);
    if (answer.wait_for(patience) == std::future_status::ready) return answer.get();
    {
        // The asker is about to hear that no node was started, so none may be started later.
        const std::lock_guard lock(state_->mutex);
        const auto is_it = [number](const State::Asked& asked) { return asked.number == number; };
        if (std::erase_if(state_->waiting, is_it) > 0) return refusal_of_silence;
    }
    return answer.get();  // it is being served, or the queue has closed
}

void StartQueue::serve(const std::function<std::string(NodeId)>& start) {
    host::clear_event(state_->event);
    std::vector<State::Asked> now;
    {
        const std::lock_guard lock(state_->mutex);
        now.swap(state_->waiting);
    }
    for (State::Asked& asked : now) {
        const std::vector<NodeId> nodes = state_->meant(asked.request);
        if (asked.answer && nodes.size() < asked.request.count) {
            asked.answer->set_value(state_->refusal(asked.request.count));
            continue;
        }
        std::string text;
        try {
            for (const NodeId node : nodes) {
                const std::string place = start(node);
                state_->started[node] = true;
                text += fmt::format("{}node {} was started {}", text.empty() ? "+" : ", ", node, place);
            }
        } catch (const Error& error) {
            text = refusal_after(text, error.message());
        } catch (const std::exception& error) {
            // The run goes on: what the system lacks for one more node is no reason to end it.
            text = refusal_after(text, error.what());
        }
        if (asked.answer) asked.answer->set_value(text);
    }
}

void StartQueue::close() {
    const std::lock_guard lock(state_->mutex);
    state_->closed = true;
    for (State::Asked& asked : state_->waiting)
        if (asked.answer) asked.answer->set_value(refusal_at_end);
    state_->waiting.clear();
}

// --- the socket

namespace {

constexpr std::size_t line_max = 4096;
constexpr std::chrono::seconds line_patience{2};

std::string prefix() {
    return fmt::format("heddle-launch-{}-", geteuid());
}

bool is_number(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

void check_name(const std::string& name) {
    const bool good = name.size() <= 40 && !is_number(name) && std::ranges::all_of(name, [](char c) {
                          return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                 c == '.' || c == '_' || c == '-';
                      });
    if (!good)
        throw Error(fmt::format("\"{}\" is no name of a run", name),
                    "use up to 40 letters, digits and ._-, and not digits alone");
}

/// Up to the end of a line, which is not part of it.
std::string read_line(int socket, Deadline deadline) {
    std::string line;
    while (line.size() < line_max && wait_until_readable(socket, deadline)) {
        char byte = 0;
        const auto count = recv(socket, &byte, 1, MSG_DONTWAIT);
        if (count == 0 || (count == 1 && byte == '\n')) break;
        if (count == 1) line.push_back(byte);
        if (count < 0 && errno != EAGAIN && errno != EINTR) break;
    }
    return line;
}

void write_line(int socket, const std::string& line) {
    const std::string text = line + "\n";
    (void)write_all(socket, std::as_bytes(std::span(text)), Clock::now() + line_patience);
}

/// The launches of this user that others may join: those at whose sockets a process listens.
std::vector<std::string> names_of_runs() {
    std::ifstream table("/proc/net/unix");
    std::vector<std::string> names;
    for (std::string line; std::getline(table, line);) {
        const auto place = line.rfind(" @" + prefix());
        if (place == std::string::npos) continue;
        names.push_back(line.substr(place + 2 + prefix().size()));
    }
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

}  // namespace

struct LaunchControl::State {
    std::string run;
    StartQueue& queue;
    std::vector<Descriptor> listening;
    Descriptor wake = host::make_event();
    std::atomic<bool> stopping{false};
    std::thread thread;

    explicit State(StartQueue& given) : queue(given) {}

    void serve(int socket) {
        const std::string line = read_line(socket, Clock::now() + line_patience);
        NodeId count = 0;
        const std::string_view number = std::string_view(line).substr(std::min<std::size_t>(line.size(), 6));
        std::from_chars(number.data(), number.data() + number.size(), count);
        if (!line.starts_with("start ") || count == 0) return write_line(socket, "-this is no request");
        write_line(socket, queue.ask_and_wait(count));
    }

    void listen() {
        while (!stopping.load(std::memory_order_acquire)) {
            std::vector<pollfd> entries{{wake.get(), POLLIN, 0}};
            for (const Descriptor& socket : listening) entries.push_back({socket.get(), POLLIN, 0});
            if (poll(entries.data(), entries.size(), -1) <= 0) continue;
            for (const Descriptor& socket : listening) {
                const Descriptor asker(accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
                if (asker && is_of_this_user(asker.get())) serve(asker.get());
            }
        }
    }
};

LaunchControl::LaunchControl(const std::string& name, StartQueue& queue)
    : state_(std::make_unique<State>(queue)) {
    if (!name.empty()) check_name(name);
    const std::string number = std::to_string(getpid());
    state_->run = name.empty() ? number : name;
    state_->listening.push_back(listen_at_name(prefix() + number));
    if (!name.empty()) {
        try {
            state_->listening.push_back(listen_at_name(prefix() + name));
        } catch (const Error&) {
            throw Error(fmt::format("a run of this user has the name {} already", name),
                        "take another one, or leave --name out");
        }
    }
    state_->thread = std::thread([state = state_.get()] { state->listen(); });
}

LaunchControl::~LaunchControl() {
    state_->queue.close();  // the thread may wait for an answer
    state_->stopping.store(true, std::memory_order_release);
    host::signal_event(state_->wake);
    state_->thread.join();
}

std::string LaunchControl::run() const {
    return state_->run;
}

std::string join_run(const std::string& run, NodeId count) {
    if (!is_number(run)) check_name(run);
    const Descriptor socket = connect_to_name(prefix() + run, Clock::now() + line_patience);
    if (!socket) {
        const std::vector<std::string> runs = names_of_runs();
        throw Error(fmt::format("no run {} can be joined", run),
                    runs.empty() ? "no run of this user can: start one with heddle launch --capacity N"
                                 : fmt::format("those of this user are: {}", fmt::join(runs, ", ")));
    }
    write_line(socket.get(), fmt::format("start {}", count));
    const std::string answer = read_line(socket.get(), Clock::now() + std::chrono::seconds(15));
    if (answer.empty()) throw Error(fmt::format("run {} gave no answer", run), "it may just have ended");
    if (!answer.starts_with('+'))
        throw Error(fmt::format("run {} started no node: {}", run, answer.substr(1)));
    return answer.substr(1);
}

}  // namespace heddle::native
