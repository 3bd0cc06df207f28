// Reads how long the calling thread has had a processor. This is the time that its code takes, whatever else
// the machine does.
#pragma once

namespace heddle::host {

/// Seconds of processor time of the calling thread. A call takes a fraction of a microsecond.
double thread_seconds();

}  // namespace heddle::host
