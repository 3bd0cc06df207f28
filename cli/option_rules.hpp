// Options that would have no effect beside another one are refused, never ignored.
#pragma once

#include <initializer_list>
#include <string>

namespace CLI {
class App;
}

namespace heddle::cli {

/// Stating `option` together with one of `others` is a mistake. The verb must have all of them already.
void refuse_beside(CLI::App& verb, const std::string& option, std::initializer_list<const char*> others);

/// Each of `others` needs `option`.
void need_beside(CLI::App& verb, const std::string& option, std::initializer_list<const char*> others);

}  // namespace heddle::cli
