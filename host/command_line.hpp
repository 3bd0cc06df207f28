// Command lines that this process writes or starts: words for a shell, and the path of this binary.
#pragma once

#include <string>
#include <vector>

namespace heddle::host {

/// Words as a POSIX shell takes them: with blanks between them, in quotes where they need some.
std::string shell_words(const std::vector<std::string>& words);

/// The words of a text, which blanks separate.
std::vector<std::string> words_of(const std::string& text);

/// The path of this very binary; its name if the system does not say.
std::string own_program();

}  // namespace heddle::host
