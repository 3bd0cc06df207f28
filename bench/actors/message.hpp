// Messages between the nodes of a program of SimGrid actors. A message carries its content as it lies in
// memory; its stated size is that of Heddle's message.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.hpp"
#include "runtime/comm/outbox.hpp"
#include "runtime/sources/token.hpp"
#include "workloads/uts_tree.hpp"

namespace heddle::actors {

/// A task that has left its node.
struct Token {
    runtime::Home home;
    workloads::UtsNode task;
};

struct Message {
    enum class Kind : std::uint8_t { request, refusal, tokens, result };

    Kind kind = Kind::request;
    NodeId from = 0;
    CoreId core = 0;                 ///< whose request this is, or answers
    std::vector<Token> tokens = {};  ///< of tokens
    runtime::Home home = {};         ///< of a result
    workloads::UtsCount count = {};  ///< of a result

    /// The size on the wire: the records of runtime/stealing/steal_service.cpp with their header.
    std::uint64_t bytes() const {
        constexpr std::uint64_t header = sizeof(runtime::RecordHeader);
        switch (kind) {
            case Kind::request:
                return header + sizeof(runtime::Home::core) + sizeof(std::uint32_t);
            case Kind::refusal:
                return header + sizeof(core);
            case Kind::tokens:
                return header + sizeof(core) + tokens.size() * (sizeof(runtime::TaskTypeId) + sizeof(Token));
            case Kind::result:
                break;
        }
        return header + sizeof(runtime::Home) + sizeof(workloads::UtsCount);
    }
};

}  // namespace heddle::actors
