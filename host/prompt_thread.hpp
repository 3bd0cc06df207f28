// Asks the system to let a thread that mostly waits, for messages or for a moment, run soon after what it
// waits for has happened.
#pragma once

namespace heddle::host {

/// The calling thread sleeps until the moment that it states. Without this Linux lets it sleep up to 50 us
/// longer, to save energy.
void wake_on_time();

/// Also, a thread that computes on the only free core gives way to the calling thread when that wakes. Linux
/// does this from 6.12 on for a thread with a shorter slice; earlier ones leave it waiting for up to 3 ms.
/// Takes nothing from the others: in the long run all threads get equal shares of the cores.
void wake_promptly();

}  // namespace heddle::host
