// Includes the headers that programs with strands (user-level threads) need.
#pragma once

#include "runtime/strands/node_strands.hpp"
#include "runtime/strands/strand.hpp"
#include "runtime/strands/strand_switch.hpp"
