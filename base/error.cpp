#include "base/error.hpp"

#include <utility>

namespace heddle {

namespace {

std::string text(const std::string& message, const std::string& advice, const Location& where) {
    std::string result;
    if (!where.file.empty()) {
        result += where.file + ":";
        if (where.line > 0) result += std::to_string(where.line) + ":";
        result += " ";
    }
    result += message;
    if (!advice.empty()) result += "; " + advice;
    return result;
}

}  // namespace

Error::Error(std::string message, std::string advice, Location where)
    : std::runtime_error(text(message, advice, where)),
      message_(std::move(message)),
      advice_(std::move(advice)),
      where_(std::move(where)) {}

Error Error::at(const Location& where) const {
    return where_.file.empty() ? Error(message_, advice_, where) : *this;
}

}  // namespace heddle
