// Hands the rules to the parser of the command line, which checks them before the verb acts.
#include "cli/option_rules.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "base/error.hpp"
#include "base/output_file.hpp"

namespace heddle::cli {

void refuse_beside(CLI::App& verb, const std::string& option, std::initializer_list<const char*> others) {
    for (const char* other : others) verb.get_option(option)->excludes(verb.get_option(other));
}

void need_beside(CLI::App& verb, const std::string& option, std::initializer_list<const char*> others) {
    for (const char* other : others) verb.get_option(other)->needs(verb.get_option(option));
}

void refuse_input_as_out(const std::string& out, const std::vector<std::string>& inputs,
                         const std::string& option) {
    if (replaces_one_of(out, inputs))
        throw Error(fmt::format("{} {} is a file that this command reads", option, out),
                    "name another file for the output");
}

}  // namespace heddle::cli
