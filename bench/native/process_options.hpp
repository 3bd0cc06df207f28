// The native backend's options for a benchmark of two processes, from the words of its command line.
#pragma once

#include <string_view>

#include "runtime/core/registered.hpp"
#include "runtime/native/launch.hpp"
#include "runtime/native/native_backend.hpp"

namespace heddle::bench {

/// `how` messages are received: auto, block, poll, or single (by the worker itself). `local`: what carries
/// them, memory, unix, tcp or udp. For a process that `heddle launch` or native::launch_here has started.
inline native::NativeOptions process_options(std::string_view how, std::string_view local) {
    native::NativeOptions options;
    options.membership = native::membership_from_environment();
    options.agreement.program = runtime::registered_functions();
    options.receive = how == "block"  ? native::Receive::block
                      : how == "poll" ? native::Receive::poll
                                      : native::Receive::automatic;
    options.single_module = how == "single";
    if (local == "udp") options.udp.emplace();
    options.local = local == "tcp" || local == "udp" ? native::Local::tcp
                    : local == "unix"                ? native::Local::unix_socket
                                                     : native::Local::shared_memory;
    return options;
}

}  // namespace heddle::bench
