// What programs include for strands.
#pragma once

#include "runtime/strands/node_strands.hpp"
#include "runtime/strands/strand.hpp"
#include "runtime/strands/strand_switch.hpp"
