// Prints what the arrays of a shared memory did, and which pages were falsely shared.
#include "results/sharing_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "base/units.hpp"

namespace heddle::results {

namespace {

using Json = nlohmann::ordered_json;
using runtime::ArraySharing;
using runtime::PageSharing;
using runtime::Sharing;

double seconds(Time time) {
    return std::chrono::duration<double>(time).count();
}

bool did_something(const ArraySharing::Counts& counts) {
    return counts.read_faults + counts.write_faults + counts.fetches + counts.invalidations != 0;
}

/// The arrays in their order, each with what all nodes did.
std::vector<ArraySharing> by_array(const Sharing& sharing) {
    std::vector<ArraySharing> sums;
    for (const ArraySharing& each : sharing.arrays) {
        auto sum = sums.begin();
        while (sum != sums.end() && sum->array != each.array) ++sum;
        if (sum == sums.end()) {
            sums.push_back(each);
            continue;
        }
        auto& counts = sum->counts;
        counts.read_faults += each.counts.read_faults;
        counts.write_faults += each.counts.write_faults;
        counts.fetches += each.counts.fetches;
        counts.invalidations += each.counts.invalidations;
        counts.bytes += each.counts.bytes;
        counts.waited += each.counts.waited;
        counts.hidden += each.counts.hidden;
    }
    return sums;
}

}  // namespace

Json memory_json(const runtime::Counters& total, const Sharing& sharing) {
    Json arrays = Json::array();
    for (const ArraySharing& each : sharing.arrays) {
        const auto& counts = each.counts;
        if (!did_something(counts)) continue;
        arrays.push_back({{"array", each.array},
                          {"node", each.node},
                          {"read_faults", counts.read_faults},
                          {"write_faults", counts.write_faults},
                          {"fetches", counts.fetches},
                          {"invalidations", counts.invalidations},
                          {"bytes", counts.bytes},
                          {"waited_seconds", seconds(counts.waited)},
                          {"hidden_seconds", seconds(counts.hidden)}});
    }
    Json pages = Json::array();
    for (const PageSharing& each : sharing.pages) {
        pages.push_back({{"array", each.array},
                         {"page", each.page},
                         {"rows", {each.first_row, each.last_row}},
                         {"intervals", each.intervals},
                         {"nodes", each.nodes}});
    }
    return {{"page_faults", total.page_faults},     {"page_requests", total.page_requests},
            {"pages_moved", total.pages_moved},     {"page_bytes", total.page_bytes},
            {"invalidations", total.invalidations}, {"arrays", std::move(arrays)},
            {"falsely_shared", std::move(pages)}};
}

std::string sharing_text(const Sharing& sharing) {
    if (sharing.arrays.empty()) return "sharing: the program has no shared memory\n";
    std::string text =
        fmt::format("{:16} {:>11} {:>12} {:>8} {:>13} {:>10} {:>10} {:>10}\n", "array", "read faults",
                    "write faults", "fetches", "invalidations", "bytes", "waited", "hidden");
    for (const ArraySharing& each : by_array(sharing)) {
        const auto& counts = each.counts;
        text += fmt::format("{:16} {:>11} {:>12} {:>8} {:>13} {:>10} {:>10} {:>10}\n", each.array,
                            counts.read_faults, counts.write_faults, counts.fetches, counts.invalidations,
                            print_bytes(static_cast<double>(counts.bytes)), print_time(counts.waited),
                            print_time(counts.hidden));
    }
    for (const PageSharing& each : sharing.pages)
        text += fmt::format("falsely shared: page {} of {} (rows {} to {}) by nodes {}, {} times\n",
                            each.page, each.array, each.first_row, each.last_row, fmt::join(each.nodes, ", "),
                            each.intervals);
    return text;
}

}  // namespace heddle::results
