// Closes descriptors, and writes and reads events.
#include "host/descriptor.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

#include "base/error.hpp"

namespace heddle::host {

void Descriptor::reset(int number) {
    if (number_ >= 0) close(number_);
    number_ = number;
}

void fill_standard_descriptors() {
    // The system gives the lowest number that is free.
    for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (fcntl(number, F_GETFD) < 0)
            (void)!open("/dev/null", number == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

std::string error_text(int number) {
    return std::system_category().message(number);
}

Descriptor make_event() {
    Descriptor event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!event) throw Error(fmt::format("cannot make an event descriptor: {}", error_text(errno)));
    return event;
}

void signal_event(const Descriptor& event) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(event.get(), &one, sizeof one);
}

void clear_event(const Descriptor& event) {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = read(event.get(), &count, sizeof count);
}

}  // namespace heddle::host
