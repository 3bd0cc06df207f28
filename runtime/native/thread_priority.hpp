// Lets a thread that works for microseconds at a time, as one that carries messages, run before those that
// compute.
#pragma once

namespace heddle::native {

/// Lets the calling thread take its core from others as soon as it is woken. By default Linux lets it wait
/// for up to 4 ms beside a thread that computes, if it has run shortly before. It must sleep most of the
/// time, and may wait awake for another thread only by give_core_away. Needs privilege: root, CAP_SYS_NICE or
/// a limit (ulimit -e). False: the system has refused, and nothing has changed.
bool run_before_others();

/// The calling thread has what the process's first thread has, whichever thread has started it.
void run_like_first_thread();

/// Lets other threads have the caller's core. A thread that runs before them sleeps for some microseconds,
/// because the system would choose it again.
void give_core_away();

}  // namespace heddle::native
