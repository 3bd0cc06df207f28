// The processors that a schedule is made for: read from the options of `heddle schedule`, printed in words
// and as JSON. Builds no platform and simulates nothing.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "graphs/graph_file.hpp"
#include "graphs/json_document.hpp"
#include "partitioners/schedulers/problem.hpp"

namespace CLI {
class App;
}

namespace heddle::cli {

struct MachineOptions {
    std::string processors, nodes, cores;
    std::string core_speed, latency, bandwidth, latency_within_node, bandwidth_within_node;
    std::string platform;           ///< in place of all of the above
    std::vector<std::string> sets;  ///< KEY=VALUE in place of the platform's
    bool bytes_as_time = false;     ///< a message takes its bytes as time, whatever the unit of work
};

/// Adds --procs, --nodes, --cores, --core-speed, --latency, --bandwidth and the two of messages within a
/// node, --platform and --set to a verb. `options` must outlive it.
void add_machine_options(CLI::App& verb, MachineOptions& options);

/// Processors, and what their times are. If times are not seconds, a unit of work is a unit of time, and a
/// message between nodes takes its bytes as time: the convention of the literature on task scheduling.
struct MachineChoice {
    schedulers::Machine machine;
    bool in_seconds = false;
    /// How many flops a unit of the graph's work stands for, before `fit`.
    double flops_per_unit = 1;
    bool network_assumed = false;  ///< the default network, because the work is in seconds and none is stated
};

/// True where one of the options is stated.
bool states_machine(const MachineOptions& options);

/// The machine of the options. If the graph has costs on each processor, the machine has these processors.
/// Throws Error.
MachineChoice machine_of(const MachineOptions& options, const graphs::GraphFile& graph);

/// Multiplies the graph's work by `flops_per_unit`, and gives the machine the graph's costs on each
/// processor.
void fit(MachineChoice& choice, graphs::GraphFile& graph);

/// `4 processors; a message takes its bytes as time`.
std::string in_words(const MachineChoice& choice);

/// Without the table of costs, which belongs to the graph.
nlohmann::ordered_json machine_json(const MachineChoice& choice);

/// What machine_json wrote, before `fit`. Throws Error with its line.
MachineChoice machine_in(const graphs::JsonValue& value);

}  // namespace heddle::cli
