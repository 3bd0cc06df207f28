// What the nodes of a shared memory tell each other. A frame from the network is checked before it is used.
#pragma once

#include "runtime/comm/wire.hpp"
