// Reads one experiment from a YAML file, refuses unknown keys, and fills in defaults. The command line
// chooses where it runs. The combinations of a `compare` section are made elsewhere.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/kernel_speeds.hpp"
#include "base/platform.hpp"
#include "base/settings.hpp"
#include "configs/compare_section.hpp"
#include "configs/document.hpp"
#include "configs/published.hpp"
#include "runtime/run/schedule.hpp"
#include "workloads/workload.hpp"

namespace heddle::configs {

enum class Backend : std::uint8_t { native, sim, inprocess };

/// What carries messages between the processes of a native run.
enum class Transport : std::uint8_t { tcp, mpi, udp };

/// In simulation, how long code takes that a workload runs: as long as it declares, or as long as the code
/// takes the processor of the machine that simulates.
enum class Compute : std::uint8_t { declared, measured };

const char* name(Backend backend);
const char* name(Compute compute);
const char* name(Transport transport);
std::vector<std::string> backend_names();

/// How messages travel between the nodes of a native run.
struct Messages {
    enum class Receive : std::uint8_t { automatic, block, poll };             ///< as native::Receive
    enum class Local : std::uint8_t { shared_memory, unix_socket, tcp };      ///< as native::Local
    enum class Protection : std::uint8_t { integrity, encryption, headers };  ///< as native::Protection
    enum class Send : std::uint8_t { each, sequence };  ///< as SimOptions::sends_sequences
    Receive receive = Receive::automatic;
    Send send = Send::each;
    Local local = Local::shared_memory;
    Protection protection = Protection::integrity;
    std::uint64_t window_bytes = 8U << 20;
    std::uint64_t udp_segment_bytes = 0;  ///< 0: as native::UdpOptions says
    std::string ports;                    ///< as native::parse_ports; empty: any
    std::string interface;                ///< as native::address_on; empty: the system chooses
    Time meeting_time{};                  ///< 0: native::meeting_time
    Time look = std::chrono::microseconds(50);
    Time gather = std::chrono::microseconds(20);
};

/// What carries messages over one of `platform.networks` natively. What is not stated is as in a run with one
/// network.
struct NetworkCarrier {
    enum class Kind : std::uint8_t { tcp, udp, shared_memory, unix_socket, mpi };
    std::optional<Kind> transport;
    std::string interface;  ///< as Messages::interface
    std::string ports;      ///< as Messages::ports
};

struct Experiment {
    std::string name;
    const workloads::Kind* kind = nullptr;  ///< the workload's
    Settings settings;                      ///< the workload's
    Platform platform;
    /// In place of `core_speed` where a workload names the kind of its work, and states no cost of its own.
    std::vector<KernelSpeed> kernels;
    /// The work that the program declares, over what is charged for it: not 1 if its kind has a speed of its
    /// own.
    double declared_per_charged = 1;
    /// The workload's `unit_cost` follows from `kernels` and `core_speed`, and is not stated.
    bool unit_cost_of_kernel = false;
    Compute compute = Compute::declared;
    /// The platform file whose values the experiment does not state otherwise (configs/platform_base.hpp), as
    /// the caller can open it; empty: none.
    std::string platform_from;
    runtime::Schedule schedule;
    Messages messages;
    std::vector<NetworkCarrier> carriers;  ///< of each of `platform.networks`
    Backend backend = Backend::native;
    Transport transport = Transport::tcp;
    std::uint64_t seed = 1;
    std::uint32_t repeat = 1;
    CompareSection compare;
    std::optional<Published> published;

    std::string file;                        ///< the YAML file, for errors
    std::map<std::string, Location> stated;  ///< the dotted keys that are stated, and where
    /// The values of those that name files and are none of the workload's, as they are stated.
    std::map<std::string, std::string> stated_paths;

    bool is_stated(const std::string& key) const { return stated.contains(key); }

    /// Whether a file says which worker runs each task: `schedule.placement_file`.
    bool reads_placement() const;

    /// Where a key was stated; the file as a whole if it is not stated.
    Location where(const std::string& key) const;

    /// The workload, for one run. Throws Error for settings that do not go together.
    std::unique_ptr<workloads::Workload> make_workload() const;

    /// The same with another seed, which is in `schedule` too.
    Experiment with_seed(std::uint64_t other) const;
};

/// A value that takes the place of the file's. `origin` is shown in errors in place of the file's name.
struct Override {
    std::string key;                             ///< dotted: platform.nodes
    std::string value;                           ///< as in YAML
    std::string origin;                          ///< --set platform.nodes
    std::optional<Value> parsed = std::nullopt;  ///< takes the place of `value`, and knows its own place
};

/// `KEY=VALUE` of `--set`. Throws Error where there is no `=`.
Override parse_override(const std::string& text);

/// Reads an experiment. Throws Error, with file and line, for everything that is not exactly right.
Experiment read_experiment(const std::string& path, const std::vector<Override>& overrides = {});

/// The same from text. Paths in it are relative to the folder of `file`.
Experiment read_experiment_text(const std::string& text, const std::string& file,
                                const std::vector<Override>& overrides = {});

/// Reads only a platform: a file with a `platform` section, whose other sections are ignored, or one that
/// holds its keys alone.
Platform read_platform(const std::string& path, const std::vector<Override>& overrides = {});
Platform read_platform_text(const std::string& text, const std::string& file,
                            const std::vector<Override>& overrides = {});

/// All that a `platform` section states: what an experiment has beside the platform, too.
struct PlatformSection {
    Platform platform;
    std::vector<KernelSpeed> kernels;
};

PlatformSection read_platform_section(const std::string& text, const std::string& file,
                                      const std::vector<Override>& overrides = {});

/// What each operation of the scheduler costs on a platform, under the names of `platform.overheads`.
std::vector<std::pair<std::string, Time>> overheads_by_name(const Overheads& overheads);

/// The resolved configuration: every key with its value, in one order, so that reading it gives the same
/// again. Two experiments that mean the same are written the same. What a backend does not use is left out.
/// The YAML names files by absolute paths: any folder may hold it. Throws Error for one that is not UTF-8.
std::string resolved_yaml(const Experiment& experiment);

/// `from_its_folder`: relative to the folder of the experiment's file, unless an absolute path is stated. So
/// the text is the same in each working directory.
enum class Paths : std::uint8_t { from_its_folder, absolute };
std::string resolved_json(const Experiment& experiment, Paths paths = Paths::from_its_folder);

/// The name of an experiment's cell, made of all that determines a run of it (configs/cell.hpp).
std::string cell_name(const Experiment& experiment);

/// The JSON Schema of a configuration, for editors (draft 7), with the registered workloads.
std::string schema_json();

/// The files that a run of the experiment reads by its settings, as the caller can open them.
std::vector<std::string> input_files(const Experiment& experiment);

/// The same, and the experiment's own file: what no output may replace.
std::vector<std::string> files_read(const Experiment& experiment);

/// The value of `key` for the command line: of a path, the one from the working directory; otherwise
/// `stated`.
std::string path_shown(const Experiment& experiment, const std::string& key, const std::string& stated);

/// Every dotted key that may be set, with the settings of the workload and of the stealing policy.
std::vector<std::string> known_keys(const workloads::Kind& workload, const std::string& policy);

}  // namespace heddle::configs
