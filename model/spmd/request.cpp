// Calls in words, for errors.
#include "model/spmd/request.hpp"

#include <fmt/format.h>

namespace heddle::spmd {

Signature signature_of(const Request& request, std::uint64_t number) {
    Signature signature;
    signature.number = number;
    signature.count = request.count;
    signature.element_bytes = static_cast<std::uint32_t>(request.element_bytes);
    signature.root = request.root;
    signature.operation = static_cast<std::uint32_t>(request.operation);
    signature.algorithm = request.algorithm
                              ? static_cast<std::uint32_t>(request.algorithm - all_algorithms().data())
                              : Signature::end;
    return signature;
}

std::string in_words(const Signature& signature) {
    if (signature.algorithm == Signature::end) return "the end of its main program";
    if (signature.algorithm >= all_algorithms().size()) return "no call";
    const Algorithm& algorithm = all_algorithms()[signature.algorithm];
    std::string text = fmt::format("{} ({})", name_of(algorithm.operation), algorithm.name);
    if (algorithm.operation == Operation::barrier) return text;
    text += fmt::format(" of {} elements of {} bytes", signature.count, signature.element_bytes);
    if (has_root(algorithm.operation)) text += fmt::format(" with root {}", signature.root);
    return text;
}

}  // namespace heddle::spmd
