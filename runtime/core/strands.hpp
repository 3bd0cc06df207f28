// What programs include for strands.
#pragma once

#include "runtime/core/node_strands.hpp"
#include "runtime/core/strand.hpp"
#include "runtime/core/strand_switch.hpp"
