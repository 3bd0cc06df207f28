// How long a line of the cache takes from one core to another. Messages, steals and barriers within a machine
// are made of such exchanges. The time depends on which cores they are. On a virtual machine, whose host
// moves its processors, it changes by itself: 25 ns in some minutes and 160 ns in others.
#pragma once

namespace heddle::host {

/// Seconds, one way, in the mean of neighbouring usable cores, 16 pairs at most. 0: there is one core,
/// threads cannot be bound, or other programs have the cores. Takes half a millisecond for each pair, and 20
/// ms at most.
double line_exchange_seconds();

/// Whether two such times are those of different cores: 1.4 times apart or more. False if one is 0.
bool are_other_cores(double a, double b);

}  // namespace heddle::host
