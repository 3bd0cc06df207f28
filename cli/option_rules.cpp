// Hands the rules to the parser of the command line, which checks them before the verb acts.
#include "cli/option_rules.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace heddle::cli {

void refuse_beside(CLI::App& verb, const std::string& option, std::initializer_list<const char*> others) {
    for (const char* other : others) verb.get_option(option)->excludes(verb.get_option(other));
}

void need_beside(CLI::App& verb, const std::string& option, std::initializer_list<const char*> others) {
    for (const char* other : others) verb.get_option(other)->needs(verb.get_option(option));
}

}  // namespace heddle::cli
