// Options that would have no effect beside another one are refused, never ignored; so is an output that would
// replace an input.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace heddle::cli {

/// Stating `option` together with one of `others` is a mistake. The verb must have all of them already.
void refuse_beside(CLI::App& verb, const std::string& option, std::initializer_list<const char*> others);

/// Each of `others` needs `option`.
void need_beside(CLI::App& verb, const std::string& option, std::initializer_list<const char*> others);

/// Throws Error if the file that `option` names is one that the verb reads (empty: none).
void refuse_input_as_out(const std::string& out, const std::vector<std::string>& inputs,
                         const std::string& option = "--out");

}  // namespace heddle::cli
