// Runs the steps of algorithms on a rank's endpoint. Each message begins with the signature of its call, so
// that ranks that disagree get an error instead of each other's elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "model/spmd/crew.hpp"
#include "model/spmd/groups.hpp"
#include "model/spmd/request.hpp"
#include "runtime/body_pool.hpp"
#include "runtime/comm/endpoint.hpp"
#include "runtime/strands/strands.hpp"

namespace heddle::spmd {

/// What the threads of a node do in a call. The paper's three optimizations, each on its own (section 2).
struct CrewSettings {
    std::uint32_t copiers = ~std::uint32_t{0};  ///< threads that copy and combine large arrays; at most all
    bool overlap = false;                       ///< they copy while thread 0 sends and receives
    /// Threads that send and receive, in algorithms whose steps may be done in any order. If there are more
    /// threads, another one copies meanwhile.
    std::uint32_t communicators = 1;
    /// When a thread begins a send.
    enum class Sends : std::uint8_t {
        in_turn,  ///< when the one before it has left, as MPI's blocking sends do: none shares its bandwidth
        together  ///< when its step comes, as MPI's MPI_Isend
    };
    Sends sends = Sends::in_turn;
    /// Adjacent elements that are a large message are sent from the program's arrays, and from another node
    /// received into them. Else all messages are packed and unpacked, as in the paper.
    bool in_place = true;
};

/// Which endpoints the ranks have: for blocking calls one each, for each split-phase call one more.
struct RankPlaces {
    RankId per_node = 1;
    std::uint64_t split_call = 0;  ///< its number, from 1; 0: of blocking calls

    static constexpr std::uint32_t first_number = 0x5350'4d44;
    runtime::Endpoint::Number use() const {
        using Number = runtime::Endpoint::Number;
        return split_call == 0 ? Number::again : Number::once;
    }
    runtime::Address address(RankId rank) const {
        // Numbers of split-phase calls come again after hundreds of millions, when the calls have long ended.
        const std::uint64_t lanes = (runtime::Endpoint::first_given - first_number) / per_node - 1;
        const std::uint64_t lane = split_call == 0 ? 0 : 1 + (split_call - 1) % lanes;
        return {rank / per_node,
                static_cast<std::uint32_t>(first_number + lane * per_node + rank % per_node)};
    }
    /// Whose address it is.
    RankId rank_at(runtime::Address address) const {
        return address.node * per_node + (address.number - first_number) % per_node;
    }
    /// Endpoints of the first so many split-phase calls have smaller numbers.
    std::uint32_t end_of(std::uint64_t split_calls) const {
        const std::uint64_t lanes = (runtime::Endpoint::first_given - first_number) / per_node;
        return static_cast<std::uint32_t>(first_number + std::min(split_calls + 1, lanes) * per_node);
    }
};

/// Call::segment.
Index segment_elements(Index element_bytes);

class Rank {
public:
    /// An arrays of at least so many bytes is copied by several threads.
    static constexpr Index shared_bytes = 16U << 10;
    /// Payload of a segment. With its signature it is sent without being announced.
    static constexpr Index segment_bytes = runtime::Endpoint::eager_max - 256;

    /// It lives on the stack of the strand that leads the rank. `levels` must outlive it.
    Rank(runtime::Node& node, RankId rank, RankId ranks, RankPlaces places, const Levels& levels);

    RankId rank() const { return rank_; }
    RankId ranks() const { return ranks_; }

    /// One call, with the threads of `crew`, which are in the same call.
    void run(runtime::Strand& self, const Request& request, Crew& crew, const CrewSettings& settings);

    /// After a split-phase call. Throws Error if a message of it is left.
    void expect_nothing_left();

    /// The program has ended here, after so many split-phase calls. Returns when it has ended everywhere.
    /// Throws Error if ranks make calls that this one does not, or messages are left.
    void end(runtime::Strand& self, std::uint64_t split_calls);

private:
    class Execution;
    class Part;
    struct Scratch {
        std::unique_ptr<std::byte[]> bytes;
        Index size = 0;
    };

    Call call_of(const Request& request) const;
    void execute(runtime::Strand& self, const Request& request, Crew& crew, const CrewSettings& settings);
    void expect_nothing_left_at_end(std::uint64_t split_calls);
    [[noreturn]] void refuse_left(RankId rank, std::uint64_t call, runtime::Address from) const;
    [[noreturn]] void refuse(const Signature& own, RankId other, const Signature& others) const;

    runtime::Node& node_;
    runtime::Endpoint endpoint_;
    RankId rank_;
    RankId ranks_;
    RankPlaces places_;
    const Levels& levels_;
    std::uint64_t calls_;  ///< their number, as messages of errors say it
    Scratch scratch_;
    std::shared_ptr<runtime::BodyPool> buffers_ = std::make_shared<runtime::BodyPool>(256U << 20);
};

}  // namespace heddle::spmd
