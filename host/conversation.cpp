// Talks to a child process over a pair of sockets. If the child has ended, a write to a socket raises no
// signal here.
#include "host/conversation.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/error.hpp"
#include "host/local_starter.hpp"

namespace heddle::host {

Conversation::Conversation(const std::vector<std::string>& argv) {
    int line[2];
    int errors[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line))
        throw Error(fmt::format("cannot make a pair of sockets: {}", error_text(errno)));
    line_.reset(line[0]);
    const Descriptor far_line(line[1]);
    if (pipe2(errors, O_CLOEXEC)) throw Error(fmt::format("cannot make a pipe: {}", error_text(errno)));
    errors_.reset(errors[0]);
    const Descriptor far_errors(errors[1]);
    fcntl(errors_.get(), F_SETFL, O_NONBLOCK);
    process_ = LocalStarter().start(0, argv, {}, {far_line.get(), far_line.get(), far_errors.get()});
}

Conversation::~Conversation() {
    line_.reset();
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
}

void Conversation::tell(const std::string& line) {
    const std::string text = line + "\n";
    (void)!send(line_.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

std::optional<std::string> Conversation::hear(std::chrono::milliseconds time) {
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + time;
    for (;;) {
        const std::size_t end = heard_.find('\n');
        if (end != std::string::npos) {
            std::string line = heard_.substr(0, end);
            heard_.erase(0, end + 1);
            return line;
        }
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
        pollfd entry{line_.get(), POLLIN, 0};
        const int ready = poll(&entry, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
        if (ready == 0) return std::nullopt;
        if (ready < 0) continue;
        std::array<char, 4096> bytes;
        const auto count = recv(line_.get(), bytes.data(), bytes.size(), 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return std::nullopt;
        heard_.append(bytes.data(), static_cast<std::size_t>(count));
    }
}

std::string Conversation::last_error() {
    // A process that has just ended may still have a child that holds the pipe: what is there counts.
    std::string text;
    std::array<char, 4096> bytes;
    for (ssize_t count = 0; (count = read(errors_.get(), bytes.data(), bytes.size())) > 0;)
        text.append(bytes.data(), static_cast<std::size_t>(count));
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    return text.substr(text.rfind('\n') + 1);
}

}  // namespace heddle::host
