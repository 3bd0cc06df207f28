// Parses the JSON files of a result, which may be damaged or of another program. Knows nothing of what is in
// them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace heddle::results {

/// Discarded (is_discarded()) for text that is no JSON, and for values that are nested deeper than those of
/// any result: programs that print or copy a value call themselves for each level.
nlohmann::ordered_json parse_result(const std::string& text);

}  // namespace heddle::results
