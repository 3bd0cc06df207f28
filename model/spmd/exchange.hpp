// Calls in which each rank sends other ranks what they need, of sizes that may differ: redistributions,
// shifts, transposes, all-to-some. An Exchange says what is sent. Its order is that of all_to_all by
// `pairwise`, and the executor of collective calls (collective.hpp) runs it.
#pragma once

#include <cstdint>
#include <vector>

#include "model/spmd/movement.hpp"
#include "model/spmd/steps.hpp"

namespace heddle::spmd {

/// What all ranks send each other in a call. Immutable, so the threads of a node may share one.
class Exchange {
public:
    enum class Kind : std::uint32_t { redistribution, shift, transpose, all_to_some, all_gather };

    virtual ~Exchange() = default;

    Kind kind() const { return kind_; }
    /// Elements of the whole array, and a number that differs for different calls, most probably. Ranks whose
    /// numbers differ are told so.
    virtual Index elements() const { return 0; }
    virtual std::uint32_t fingerprint() const { return 0; }

    /// Elements that one rank sends another; or to itself: what it only copies.
    virtual Index count(RankId from, RankId to) const = 0;
    /// Into a message, out of it, and from a rank's input to its output.
    virtual Movement packing(RankId from, RankId to) const = 0;
    virtual Movement unpacking(RankId from, RankId to) const = 0;
    virtual Movement own(RankId rank) const = 0;
    /// Whether a rank sends all others the same.
    virtual bool sends_alike() const { return false; }

    /// A rank's steps. There is no message without elements, so p ranks send p(p-1) messages at most. The
    /// ranges of the steps are only counted: `packing` and `unpacking` know the places.
    void steps(const Call& call, Steps& steps) const;

protected:
    explicit Exchange(Kind kind) : kind_(kind) {}

private:
    Kind kind_;
};

const char* name_of(Exchange::Kind kind);

/// Blocks of given sizes, which lie one after the other in the order of the ranks: the paper's all-to-some,
/// MPI's MPI_Alltoallv. Its counts are those of one rank.
class Blocks final : public Exchange {
public:
    /// There is a count for each rank. Throws Error if the rank's counts for itself differ: no message
    /// carries its own block, so no receiver compares them.
    Blocks(RankId rank, std::vector<Index> to_each, std::vector<Index> from_each);
    /// The same block of a rank for all: MPI's MPI_Allgatherv.
    static Blocks gathered(RankId rank, std::vector<Index> from_each);

    Index count(RankId from, RankId to) const override {
        return from == rank_ ? to_each_[to] : from_each_[from];
    }
    Movement packing(RankId from, RankId to) const override;
    Movement unpacking(RankId from, RankId to) const override;
    Movement own(RankId rank) const override;
    bool sends_alike() const override { return kind() == Kind::all_gather; }

private:
    Blocks(Kind kind, RankId rank, std::vector<Index> to_each, std::vector<Index> from_each);
    Index place_at_source(RankId to) const;
    Index place_at_target(RankId from) const;

    RankId rank_;
    std::vector<Index> to_each_;
    std::vector<Index> from_each_;
};

}  // namespace heddle::spmd
