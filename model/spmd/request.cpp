// Makes the signature of a collective call, which ranks compare, and describes calls in words for error
// messages.
#include "model/spmd/request.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace heddle::spmd {

void refuse_sizes(const Request& request, RankId ranks) {
    throw Error(fmt::format("{} on {} ranks with an input and an output that do not fit",
                            name_of(request.operation), ranks),
                "blocks are alike on all ranks: gather, all_gather: output = ranks x input; scatter, "
                "reduce_scatter: input = ranks x output; all_to_all: both are ranks x block");
}

void expect_apart(const Request& request, Index input, Index output) {
    const std::byte* const out = request.output;
    if (input == 0 || output == 0 || request.input + input * request.element_bytes <= out ||
        out + output * request.element_bytes <= request.input)
        return;
    throw Error(fmt::format("{} with an input and an output that overlap", request.name()),
                "give them memory of their own");
}

void expect_alike(NodeId node, std::uint32_t thread, const Request& request, std::uint32_t other_thread,
                  const Request& other) {
    const bool same_arrays = other.input == request.input && other.output == request.output;
    const Signature own = signature_of(request, 0);
    const Signature others = signature_of(other, 0);
    if (same_arrays && own == others) return;
    throw Error(fmt::format("threads {} and {} of node {} disagree: {} and {}{}", thread, other_thread, node,
                            in_words(own), in_words(others), same_arrays ? "" : ", with different arrays"),
                "all threads of a node make the same collective calls, with the node's arrays");
}

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
    if (request.split_phase) signature.operation |= Signature::split_phase;
    return signature;
}

std::string in_words(const Signature& signature) {
    if ((signature.operation & Signature::declared) != 0) {
        Signature without = signature;
        without.operation &= ~Signature::declared;
        return in_words(without) + ", whose data are only declared";
    }
    if ((signature.operation & Signature::split_phase) != 0) {
        Signature without = signature;
        without.operation &= ~Signature::split_phase;
        return "split-phase " + in_words(without);
    }
    if (signature.algorithm == Signature::end) {
        std::string text = "the end of its main program";
        if (signature.count == 0) return text;
        return fmt::format("{}, after {} split-phase call{}", text, signature.count,
                           signature.count == 1 ? "" : "s");
    }
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
