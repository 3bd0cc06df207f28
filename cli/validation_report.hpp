// Prints a validation as a table for people.
#pragma once

#include <string>

#include "results/validation.hpp"

namespace heddle::cli {

/// A line for each configuration, then what both worlds count, then the total. Lines end with line breaks.
std::string validation_text(const results::Validation& validation);

}  // namespace heddle::cli
