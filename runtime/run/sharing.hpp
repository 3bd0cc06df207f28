// Counts of what each array of a shared memory did in a run. Each node sends its counts to node 0 at the end.
// The code in model/dsm/ counts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "runtime/comm/wire.hpp"

namespace heddle::runtime {

/// What one node did with one array.
struct ArraySharing {
    std::string array;
    NodeId node = 0;
    struct Counts {
        std::uint64_t read_faults = 0;
        std::uint64_t write_faults = 0;
        std::uint64_t fetches = 0;  ///< pages that came with their contents
        std::uint64_t invalidations = 0;
        std::uint64_t bytes = 0;  ///< of what came
        Time waited{};            ///< summed over what waited for pages
        Time hidden{};            ///< of this, while the worker was awake for something else too
    } counts;
};

/// A page that several nodes used between two barriers, and one of them wrote: as far as its home knows,
/// which sees requests only.
struct PageSharing {
    std::string array;
    std::uint64_t page = 0;  ///< of the array
    std::uint64_t first_row = 0;
    std::uint64_t last_row = 0;
    std::uint64_t intervals = 0;  ///< between two barriers, in which that happened
    std::vector<NodeId> nodes;    ///< ascending
};

struct Sharing {
    std::vector<ArraySharing> arrays;
    std::vector<PageSharing> pages;

    void write(Writer& writer) const {
        writer.put(static_cast<std::uint32_t>(arrays.size()));
        for (const ArraySharing& each : arrays) writer.put_text(each.array).put(each.node).put(each.counts);
        writer.put(static_cast<std::uint32_t>(pages.size()));
        for (const PageSharing& each : pages) {
            writer.put_text(each.array).put(each.page).put(each.first_row).put(each.last_row);
            writer.put(each.intervals).put(static_cast<std::uint32_t>(each.nodes.size()));
            for (const NodeId node : each.nodes) writer.put(node);
        }
    }
    void read(Reader& reader) {
        for (auto left = reader.get<std::uint32_t>(); left != 0 && reader.ok(); --left) {
            ArraySharing& each = arrays.emplace_back();
            each.array = reader.get_text();
            each.node = reader.get<NodeId>();
            each.counts = reader.get<ArraySharing::Counts>();
        }
        for (auto left = reader.get<std::uint32_t>(); left != 0 && reader.ok(); --left) {
            PageSharing& each = pages.emplace_back();
            each.array = reader.get_text();
            each.page = reader.get<std::uint64_t>();
            each.first_row = reader.get<std::uint64_t>();
            each.last_row = reader.get<std::uint64_t>();
            each.intervals = reader.get<std::uint64_t>();
            for (auto nodes = reader.get<std::uint32_t>(); nodes != 0 && reader.ok(); --nodes)
                each.nodes.push_back(reader.get<NodeId>());
        }
    }
};

}  // namespace heddle::runtime
