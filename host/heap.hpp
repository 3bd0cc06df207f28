// How the C library's heap of this process treats memory that is freed.
#pragma once

namespace heddle::host {

/// Keeps what is freed for the next use. By default the C library gives blocks of some hundred KiB and more
/// back to the system: the pages of each message and of each array would be taken, cleared and given back
/// once more. Memory that was used once stays with the process, up to half a GiB that lies together.
void keep_freed_memory();

}  // namespace heddle::host
