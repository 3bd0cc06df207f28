// Refuses settings of a dispatcher that contradict each other.
#include "model/messaging/dispatcher_settings.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "model/messaging/fragment.hpp"

namespace heddle::messaging {

void DispatcherSettings::check() const {
    if (header_bytes < sizeof(FragmentHeader) || fragment_bytes <= header_bytes)
        throw Error(fmt::format("fragments of {} bytes with headers of {}", fragment_bytes, header_bytes),
                    fmt::format("a header has at least {} bytes, and a fragment more than its header",
                                sizeof(FragmentHeader)),
                    where);
    if (control_blocks == 0 || send_buffers == 0 || fragments == 0)
        throw Error("a dispatcher without control blocks, send buffers or fragments",
                    "let there be one of each at least", where);
    if (fragments >> FragmentId::index_bits != 0)
        throw Error(fmt::format("a message of up to {} fragments", fragments),
                    fmt::format("permit fewer than {}, or larger fragments", 1U << FragmentId::index_bits),
                    where);
}

}  // namespace heddle::messaging
