// Shared by the data-parallel workloads: settings of ranks and of the threads of a node, a thread's share of
// its rank's work, and time.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/cluster_view.hpp"
#include "base/settings.hpp"
#include "base/time.hpp"
#include "model/spmd.hpp"

namespace heddle::workloads {

/// The settings that `spmd_options` reads, after the workload's own.
inline std::vector<Setting> with_spmd_settings(std::vector<Setting> own) {
    const std::vector<Setting> common{
        {"ranks", SettingKind::choice, "nodes", "what a rank is: a node, or a thread", {"nodes", "threads"}},
        {"copiers",
         SettingKind::integer,
         "1024",
         "threads of a node that pack and copy, at most",
         {},
         1,
         1024},
        {"overlap", SettingKind::boolean, "false", "they copy while another thread communicates"},
        {"communicators", SettingKind::integer, "1", "threads of a node that send and receive", {}, 1, 1024},
        {"sends",
         SettingKind::choice,
         "in_turn",
         "when a thread begins a send: when the one before it has left, or at once",
         {"in_turn", "together"}},
        {"in_place", SettingKind::boolean, "true",
         "large blocks are sent from arrays and received into them, not packed as in the paper"}};
    own.insert(own.end(), common.begin(), common.end());
    return own;
}

inline spmd::SpmdOptions spmd_options(const Settings& settings) {
    using Ranks = spmd::SpmdOptions::Ranks;
    using Sends = spmd::CrewSettings::Sends;
    spmd::SpmdOptions options;
    options.ranks = settings.text("ranks") == "threads" ? Ranks::threads : Ranks::nodes;
    options.crew = {settings.integer<std::uint32_t>("copiers"), settings.boolean("overlap"),
                    settings.integer<std::uint32_t>("communicators"),
                    settings.text("sends") == "together" ? Sends::together : Sends::in_turn,
                    settings.boolean("in_place")};
    return options;
}

/// How many ranks a run has.
inline spmd::RankId ranks_of(const spmd::SpmdOptions& options, const ClusterView& cluster) {
    const bool flat = options.ranks == spmd::SpmdOptions::Ranks::threads;
    return static_cast<spmd::RankId>(flat ? cluster.grid.workers() : cluster.grid.nodes);
}

/// How many of them are in this process.
inline spmd::RankId ranks_here(const spmd::SpmdOptions& options, const ClusterView& cluster) {
    ClusterView here = cluster;
    here.grid.nodes = cluster.nodes_here.value_or(cluster.grid.nodes);
    return ranks_of(options, here);
}

/// Which part of an array that is dealt out over all ranks is in this process.
inline double share_here(const spmd::SpmdOptions& options, const ClusterView& cluster) {
    return static_cast<double>(ranks_here(options, cluster)) / ranks_of(options, cluster);
}

/// A thread of a rank: the rank's threads share its arrays.
struct RankThread {
    explicit RankThread(const spmd::Spmd& self)
        : alone(self.ranks() != self.nodes()),
          number(alone ? 0 : self.thread_rank()),
          threads(alone ? 1 : self.num_of_thread()),
          place(alone ? self.thread_rank() : 0) {}

    /// Its share of n things.
    std::pair<spmd::Index, spmd::Index> share(spmd::Index n) const {
        return {n * number / threads, n * (number + 1) / threads};
    }
    bool leads() const { return number == 0; }

    bool alone;
    std::uint32_t number;
    std::uint32_t threads;
    std::uint32_t place;  ///< of the rank among those of its node
};

/// Runs what a benchmark does besides what it measures, such as filling its arrays. It declares no work, so
/// it takes time only where code is measured (`platform.compute`).
template <class Code>
void undeclared(const spmd::Spmd& self, const Code& code) {
    self.worker().compute({}, code);
}

inline double seconds_of(const spmd::Spmd& self) {
    return to_seconds(self.worker().backend->now(self.worker()));
}

}  // namespace heddle::workloads
