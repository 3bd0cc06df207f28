// Estimates how much bandwidth large messages leave for a small one. It imitates SimGrid's sharing without a
// call to SimGrid. Times and messages are handled elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "sim/simgrid_platform.hpp"

namespace heddle::sim {

/// The way between two nodes. SimGrid shares a link in proportion to `weight`.
struct Path {
    std::vector<LinkFacts> links;
    double weight = 1;
    Time last_arrival{};  ///< of a small message
    Time last_start{};    ///< the same, when it began on its links; where the route changes with time
};

class LinkLoad {
public:
    /// A large message begins to use its path. Returns its handle. `path` must outlive it.
    std::size_t begin(const Path& path);

    /// It ends. Handles of others stay as they are.
    void end(std::size_t flow);

    bool empty() const { return flows_.size() == free_.size(); }

    /// From now on a link has another bandwidth than paths say, in bytes per second.
    void change(std::uint32_t link, double bandwidth);

    /// What a link of a path has now.
    double bandwidth_now(const LinkFacts& link) const {
        return link.number < changed_.size() && changed_[link.number] > 0 ? changed_[link.number]
                                                                          : link.bandwidth;
    }

    /// The bandwidth that one more message would get on `path`, in bytes per second.
    double bandwidth(const Path& path);

private:
    struct Link {
        double bandwidth = 0;
        double weight = 0;  ///< of all large messages on it
        double used = 0;    ///< by them
    };
    struct Flow {
        const Path* path = nullptr;
        double rate = 0;
    };

    void refresh();

    std::vector<Link> links_;      ///< by number
    std::vector<double> changed_;  ///< bandwidths by number; 0: as paths say
    std::vector<Flow> flows_;
    std::vector<std::size_t> free_;
    bool stale_ = false;
};

}  // namespace heddle::sim
