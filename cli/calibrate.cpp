// `heddle calibrate`: measures a machine, or a description of one, by the probes of calibration/, and writes
// a platform file.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>

#include "base/kernel_speeds.hpp"
#include "base/output_file.hpp"
#include "calibration/probe.hpp"
#include "cli/calibrate_workload.hpp"
#include "cli/calibration_file.hpp"
#include "cli/option_rules.hpp"
#include "cli/override_options.hpp"
#include "cli/platform_source.hpp"
#include "cli/quiet_measurement.hpp"
#include "cli/text_table.hpp"
#include "cli/verbs.hpp"
#include "cli/worlds.hpp"
#include "configs/program_code.hpp"
#include "host/command_line.hpp"
#include "host/host_list.hpp"
#include "host/machine.hpp"
#include "host/wall_clock.hpp"
#include "runtime/native/launch.hpp"
#include "workloads/work_kinds.hpp"

namespace heddle::cli {

namespace {

using calibration::Effort;
using calibration::Probe;
using calibration::Readings;
using calibration::Way;

struct CalibrateOptions {
    std::string out;
    std::string simulated;  ///< a platform to measure in simulation; empty: this machine
    std::string hosts;
    std::string workload;
    OverrideOptions overrides;
    std::vector<std::string> diff;
    std::uint32_t repetitions = 0;  ///< of each reading; 0: as many as are usual
    bool quick = false;
    bool force = false;
};

/// What other programs may take of the cores before a measurement is refused.
constexpr double lost_most = 0.1;

Effort effort_of(std::uint32_t repetitions, bool quick, bool simulated) {
    Effort effort;
    effort.kernels = workloads::kernels();
    // In simulation every repetition is the same.
    effort.repetitions = repetitions != 0 ? repetitions : simulated ? 2 : quick ? 25 : 101;
    if (simulated) {
        effort.scale = quick ? 0.02 : 0.1;
        effort.sweep_bytes = 64U << 10;
        effort.message_bytes = 2U << 20;
        effort.deep_seconds = 5e-3;
        return effort;
    }
    std::uint64_t cache = 0;
    for (const host::Cache& one : host::caches()) cache = std::max(cache, one.bytes);
    effort.sweep_bytes = std::clamp<std::uint64_t>(2 * cache, 32U << 20, 256U << 20);
    if (quick) effort.deep_seconds = 5e-3;
    return effort;
}

/// The experiment by which the world of a probe is made; what it runs is the probe.
configs::Experiment experiment_of(const Probe& probe, const Platform* described) {
    configs::Experiment experiment = configs::read_experiment_text(
        fmt::format("workload: {{name: fib}}\nbackend: {}\nplatform: {{nodes: {}, cores: {}}}\n",
                    described ? "sim" : "native", probe.nodes, probe.cores),
        "heddle calibrate");
    if (described) {
        Platform& platform = experiment.platform;
        platform = *described;
        platform.nodes = probe.nodes;
        platform.cores = probe.cores;
        platform.processes = described->processes > 1 ? probe.nodes : 1;
        platform.sockets = probe.name == "far" ? described->sockets : 1;
    }
    experiment.schedule = probe.schedule;
    // A receiver that sleeps meanwhile adds its waking up, which has probes of its own. Natively one that
    // looks takes a core from workers, so only the probe of round trips has it.
    if (described || probe.name == "round trips") experiment.messages.look = std::chrono::milliseconds(10);
    return experiment;
}

/// What is measured of a description: a node of it, and messages over two links of its network.
configs::PlatformSection described_node(const std::string& stated) {
    configs::PlatformSection described = platform_section_named(stated, {});
    Platform& platform = described.platform;
    if (!platform.file.empty() || !platform.networks.empty())
        throw Error("a platform of several networks or a SimGrid file cannot be calibrated",
                    "state `network` and the keys of a node", platform.where);
    platform.cores = std::max(platform.cores, CoreId{1});
    platform.network.topology = Network::Topology::star;
    platform.network.shape.clear();
    platform.network.cables.clear();
    platform.events.clear();
    platform.link_events.clear();
    platform.nodes_at_start = 0;
    platform.clusters.clear();
    return described;
}

/// Work of a kind whose speed is stated declares so many flops that it takes its time at core_speed.
std::function<double(const std::string&, double, double)> declared_by(
    const configs::PlatformSection& described) {
    return [kernels = described.kernels, core_speed = described.platform.core_speed](
               const std::string& kernel, double size, double flops) {
        const auto speed = speed_of(kernels, kernel, size);
        return speed ? flops * core_speed / *speed : flops;
    };
}

calibration::Reach reach_of(const Platform* described) {
    if (!described) return {host::machine_cores(), 0, 2};
    const bool sockets = described->sockets > 1 && described->cores > 2;
    return {described->cores, sockets ? described->cores / described->sockets : 0, 3};
}

/// `nodes`: of the probe of nodes.
Probe probe_named(const std::string& name, const Effort& effort, const calibration::Reach& reach,
                  NodeId nodes) {
    Probe all = calibration::node_probe(effort, nodes);
    if (all.name == name) return all;
    for (Probe& probe : calibration::probes(effort, reach))
        if (probe.name == name) return std::move(probe);
    throw Error(fmt::format("there is no probe \"{}\"", name));
}

Readings run_here(const Probe& probe, const Platform* described) {
    configs::Experiment experiment = experiment_of(probe, described);
    settle(experiment, part_of_this_process());
    const auto world = make_world(experiment);
    return calibration::run(probe, *world);
}

std::vector<host::HostSlots> one_node_each(const std::string& listed) {
    std::vector<host::HostSlots> hosts = host::parse_hosts(listed);
    for (host::HostSlots& one : hosts) one.slots = 1;
    return hosts;
}

/// In processes of their own, as `heddle launch` starts them. Node 0 leaves the readings in a file.
Readings run_launched(const Probe& probe, const CalibrateOptions& options) {
    const std::string file = fmt::format("{}.{}.tmp", options.out, ::getpid());
    native::HostLaunchOptions launch;
    launch.nodes = probe.nodes;
    launch.argv = {host::own_program(),         "calibrate-part", "--probe", probe.name, "--nodes",
                   std::to_string(probe.nodes), "--out",          file};
    if (options.quick) launch.argv.emplace_back("--quick");
    if (options.repetitions != 0)
        launch.argv.insert(launch.argv.end(), {"--repetitions", std::to_string(options.repetitions)});
    int code = 0;
    if (options.hosts.empty()) {
        code = native::launch_here(launch);
    } else {
        launch.hosts = one_node_each(options.hosts);
        launch.build = configs::program_id();
        code = native::launch_on_hosts(launch);
    }
    if (code == 0) return take_readings(file);
    std::error_code ignored;
    std::filesystem::remove(file, ignored);
    throw Error(fmt::format("the processes that measure {} failed ({})", probe.what, code));
}

/// A process of such a launch.
int run_part(const std::string& name, NodeId nodes, const CalibrateOptions& options) {
    const Effort effort = effort_of(options.repetitions, options.quick, false);
    const Probe probe = probe_named(name, effort, reach_of(nullptr), nodes);
    const Readings readings = run_here(probe, nullptr);
    if (!part_of_this_process().speaks()) return success;
    const runtime::Bytes bytes = calibration::to_bytes(readings);
    write_file(options.out, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    return success;
}

void say(const std::string& line) {
    std::cerr << "calibrate: " << line << "\n";
}

calibration::Noise measure_noise(const CalibrateOptions& options, const Effort& effort,
                                 std::vector<ProbeReadings>& all) {
    say("what other programs take of the cores");
    const Probe probe = calibration::noise_probe(effort, host::machine_cores());
    all.push_back({probe.name, run_here(probe, nullptr)});
    const calibration::Noise noise = calibration::noise_of(all.back().readings);
    if (noise.lost <= lost_most) return noise;
    const std::string what = fmt::format(
        "other programs take the cores: the mean quantum of work takes {:.0f}% longer than an undisturbed "
        "one",
        100 * noise.lost);
    if (!options.force)
        throw Error(what, "end them, or add --force: the values are then those of a busy machine");
    say(what);
    return noise;
}

std::string processor_name() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        if (!line.starts_with("model name")) continue;
        const std::size_t colon = line.find(": ");
        return colon == std::string::npos ? "" : line.substr(colon + 2);
    }
    return {};
}

std::string beside(const std::string& out) {
    return std::filesystem::path(out).replace_extension(".csv").string();
}

void print_table(const calibration::Calibration& found) {
    std::vector<std::vector<std::string>> rows = {{"entry", "value", "from", "to"}};
    for (const calibration::Entry& entry : found.entries)
        rows.push_back({entry.key, shown_value(entry, entry.value), shown_value(entry, entry.low),
                        shown_value(entry, entry.high)});
    std::cout << columns(rows, 1);
}

/// Measures all hosts at the same time, and says which are slow.
std::vector<HostSpeed> compare_hosts(const CalibrateOptions& options, const Effort& effort,
                                     std::vector<ProbeReadings>& all) {
    std::vector<HostSpeed> speeds;
    if (options.hosts.empty()) return speeds;
    const auto hosts = one_node_each(options.hosts);
    const Probe probe = calibration::node_probe(effort, static_cast<NodeId>(hosts.size()));
    say(probe.what);
    all.push_back({probe.name, run_launched(probe, options)});
    for (const calibration::NodeSpeed& node : calibration::node_speeds_of(all.back().readings))
        speeds.push_back({hosts.at(node.node).host, node});
    return speeds;
}

void print_hosts(const std::vector<HostSpeed>& hosts) {
    if (hosts.empty()) return;
    std::vector<std::vector<std::string>> rows = {{"host", "core", "memory", ""}};
    for (const auto& [name, speed] : hosts)
        rows.push_back({name, fmt::format("{:.1f}%", 100 * speed.core),
                        fmt::format("{:.1f}%", 100 * speed.memory), speed.is_slow() ? "slow" : ""});
    std::cout << columns(rows, 1);
}

const OutputWords words_of_platform = {"the platform file",
                                       "name another file with --out, or make its folder writable"};
const OutputWords words_of_readings = {"the table of readings", words_of_platform.advice};

int calibrate_machine(const CalibrateOptions& options) {
    // Known before minutes of measuring.
    expect_writable(options.out, words_of_platform);
    expect_writable(beside(options.out), words_of_readings);
    const bool simulated = !options.simulated.empty();
    const double begin = host::wall_seconds();
    Effort effort = effort_of(options.repetitions, options.quick, simulated);
    Platform platform;
    if (simulated) {
        const configs::PlatformSection node = described_node(options.simulated);
        platform = node.platform;
        effort.declared = declared_by(node);
    }
    const Platform* const described = simulated ? &platform : nullptr;
    std::vector<ProbeReadings> all;
    CalibrationFacts facts;
    if (!simulated) facts.noise = measure_noise(options, effort, all);
    const calibration::Reach reach = reach_of(described);
    const std::vector<Probe> probes = calibration::probes(effort, reach);
    Readings readings;
    const auto run = [&](const Probe& probe) {
        return simulated || probe.nodes == 1 ? run_here(probe, described) : run_launched(probe, options);
    };
    const std::size_t first = all.size();
    if (simulated) {
        for (std::size_t i = 0; i < probes.size(); ++i) {
            say(fmt::format("{} of {}: {}", i + 1, probes.size(), probes[i].what));
            all.push_back({probes[i].name, run(probes[i])});
        }
    } else {
        QuietMeasurement quietly(say);
        std::ranges::move(quietly.measure(probes, run), std::back_inserter(all));
        facts.disturbed = quietly.disturbed();
        facts.line_seconds = quietly.line_seconds();
    }
    for (const ProbeReadings& one : std::span(all).subspan(first))
        std::ranges::copy(one.readings, std::back_inserter(readings));
    facts.hosts = compare_hosts(options, effort, all);
    const bool inside = simulated ? platform.processes > 1 : options.hosts.empty();
    const auto found =
        calibration::calibrate(calibration::samples_of(readings), inside ? Way::shared_memory : Way::network);
    facts.world = simulated ? "a simulated platform" : host::host_name();
    if (!simulated) facts.processor = processor_name();
    facts.cores = reach.cores;
    facts.processes = 2;
    facts.quick = options.quick;
    if (!simulated) facts.seconds = host::wall_seconds() - begin;
    facts.readings = std::filesystem::path(beside(options.out)).filename().string();
    write_file(beside(options.out), readings_csv(all), OutputFile::Durable::no, words_of_readings);
    write_file(options.out, calibration_yaml(found, facts), OutputFile::Durable::no, words_of_platform);
    print_table(found);
    print_hosts(facts.hosts);
    std::cout << fmt::format("{}: {} entries, {} not measured; readings in {}\n", options.out,
                             found.entries.size(), found.missing.size(), beside(options.out));
    return success;
}

int calibrate_or_compare(const CalibrateOptions& options) {
    refuse_launch("calibrate", "--hosts names other machines");
    if (!options.diff.empty()) {
        const Difference difference = difference_of(options.diff.at(0), options.diff.at(1));
        std::cout << difference.table;
        return difference.agree ? success : wrong_answer;
    }
    if (!options.workload.empty()) {
        constexpr std::uint32_t runs = 11;
        return calibrate_workload(options.workload, options.overrides,
                                  options.repetitions != 0 ? options.repetitions : runs);
    }
    if (options.out.empty())
        throw Error("no file is named for what is measured",
                    "add --out here.yaml, --diff A B or --workload FILE");
    if (std::filesystem::path(options.out).extension() == ".csv")
        throw Error(fmt::format("--out {}: .csv is the ending of the readings beside it", options.out),
                    "name a file that ends in .yaml");
    refuse_input_as_out(options.out, {options.simulated});
    return calibrate_machine(options);
}

}  // namespace

void add_calibrate(CLI::App& app, Action& action) {
    const auto options = std::make_shared<CalibrateOptions>();
    CLI::App* verb =
        app.add_subcommand("calibrate", "measure this machine, and write it as a platform to simulate");
    verb->add_option("--out", options->out, "the platform file; the readings go into a .csv beside it")
        ->type_name("FILE");
    verb->add_flag("--quick", options->quick, "fewer repetitions: about a minute");
    verb->add_option("--repetitions", options->repetitions,
                     "of each reading; default: 101, and 25 with --quick")
        ->check(CLI::Range(1, 100'000));
    verb->add_flag("--force", options->force, "measure although other programs take the cores");
    verb->add_option(
            "--simulate", options->simulated,
            "measure this platform in simulation: an experiment or platform in YAML, or YAML written out")
        ->type_name("PLATFORM");
    verb->add_option("--hosts", options->hosts,
                     "hosts, by ssh: messages are measured between the first two, and all are compared: "
                     "a,b,c; this machine first");
    verb->add_option("--diff", options->diff, "compare two calibrations")->type_name("FILE")->expected(2);
    verb->add_option("--workload", options->workload,
                     "an experiment: print what its workload should declare, by runs on one core")
        ->type_name("FILE");
    verb->add_option("--set", options->overrides.sets, "with --workload: KEY=VALUE in place of the file's")
        ->type_name("KEY=VALUE")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    refuse_beside(*verb, "--simulate", {"--hosts", "--force"});
    refuse_beside(*verb, "--workload", {"--simulate", "--hosts", "--force", "--quick", "--out"});
    refuse_beside(*verb, "--diff",
                  {"--workload", "--simulate", "--hosts", "--force", "--quick", "--repetitions", "--out"});
    need_beside(*verb, "--workload", {"--set"});
    verb->callback([options, &action] { action = [options] { return calibrate_or_compare(*options); }; });
    // What it launches.
    const auto part = std::make_shared<CalibrateOptions>();
    const auto probe = std::make_shared<std::string>();
    const auto nodes = std::make_shared<NodeId>(1);
    CLI::App* hidden = app.add_subcommand("calibrate-part", "");
    hidden->group("");
    hidden->add_option("--probe", *probe)->required();
    hidden->add_option("--nodes", *nodes)->required();
    hidden->add_option("--out", part->out)->required();
    hidden->add_flag("--quick", part->quick);
    hidden->add_option("--repetitions", part->repetitions);
    hidden->callback([part, probe, nodes, &action] {
        action = [part, probe, nodes] { return run_part(*probe, *nodes, *part); };
    });
}

}  // namespace heddle::cli
