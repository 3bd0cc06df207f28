// Aligns columns of text for a terminal. For tables in files there is base/csv_table.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::cli {

/// The rows with their columns in line, two blanks apart; the first `left` columns to the left, the others to
/// the right. Every row has the same number of columns.
std::string columns(const std::vector<std::vector<std::string>>& rows, std::size_t left);

/// With a comma at every third digit: 4,130,071.
std::string grouped(std::uint64_t number);

}  // namespace heddle::cli
