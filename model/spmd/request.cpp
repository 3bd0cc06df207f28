// Makes the signature of a collective call, which ranks compare, and describes calls in words for error
// messages.
#include "model/spmd/request.hpp"

#include <fmt/format.h>

namespace heddle::spmd {

Signature signature_of(const Request& request, std::uint64_t number) {
    Signature signature;
    signature.number = number;
    signature.count = request.count;
    signature.element_bytes = static_cast<std::uint32_t>(request.element_bytes);
    signature.root = request.root;
    if (request.exchange) {
        signature.count = request.exchange->elements();
        signature.root = request.exchange->fingerprint();
        signature.operation = static_cast<std::uint32_t>(request.exchange->kind());
        signature.algorithm = Signature::exchange;
    } else {
        signature.operation = static_cast<std::uint32_t>(request.operation);
        signature.algorithm = request.algorithm
                                  ? static_cast<std::uint32_t>(request.algorithm - all_algorithms().data())
                                  : Signature::end;
    }
    if (request.declared) signature.operation |= Signature::declared;
    return signature;
}

std::string in_words(const Signature& signature) {
    if ((signature.operation & Signature::declared) != 0) {
        Signature without = signature;
        without.operation &= ~Signature::declared;
        return in_words(without) + ", whose data are only declared";
    }
    if (signature.algorithm == Signature::end) return "the end of its main program";
    if (signature.algorithm == Signature::exchange) {
        const auto kind = static_cast<Exchange::Kind>(signature.operation);
        std::string text = name_of(kind);
        if (signature.count > 0) text += fmt::format(" of {} elements", signature.count);
        text += fmt::format(" of {} bytes", signature.element_bytes);
        return signature.count > 0 ? fmt::format("{} with layouts number {}", text, signature.root) : text;
    }
    if (signature.algorithm >= all_algorithms().size()) return "no call";
    const Algorithm& algorithm = all_algorithms()[signature.algorithm];
    std::string text = fmt::format("{} ({})", name_of(algorithm.operation), algorithm.name);
    if (algorithm.operation == Operation::barrier) return text;
    text += fmt::format(" of {} elements of {} bytes", signature.count, signature.element_bytes);
    if (has_root(algorithm.operation)) text += fmt::format(" with root {}", signature.root);
    return text;
}

}  // namespace heddle::spmd
