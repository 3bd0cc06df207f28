// `heddle doctor`: prints versions, what is built in, and what the machine offers. doctor_hosts.hpp examines
// hosts.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/units.hpp"
#include "cli/doctor_hosts.hpp"
#include "cli/option_rules.hpp"
#include "cli/text_table.hpp"
#include "cli/verbs.hpp"
#include "cli/worlds.hpp"
#include "host/command_line.hpp"
#include "host/host_list.hpp"
#include "host/machine.hpp"
#include "partitioners/place_graph.hpp"
#include "runtime/native/launch.hpp"
#include "runtime/native/mpi_mesh.hpp"
#include "runtime/stealing/policy.hpp"
#include "workloads/workload.hpp"

namespace heddle::cli {

namespace {

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

/// `32KiB L1 of 1 core, 32MiB L3 of 2 cores`.
std::string caches_in_words() {
    std::vector<std::string> all;
    for (const host::Cache& cache : host::caches())
        all.push_back(fmt::format("{} L{} of {} core{}", print_bytes(static_cast<double>(cache.bytes)),
                                  cache.level, cache.cores, cache.cores == 1 ? "" : "s"));
    return all.empty() ? "unknown" : listed(all);
}

std::string memory_in_words() {
    std::vector<std::string> all;
    for (const unsigned cores : host::cores_by_memory())
        all.push_back(fmt::format("{} core{}", cores, cores == 1 ? "" : "s"));
    return all.empty() ? "unknown" : fmt::format("NUMA nodes with {}", listed(all));
}

nlohmann::ordered_json caches_as_json() {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const host::Cache& cache : host::caches())
        all.push_back({{"level", cache.level}, {"bytes", cache.bytes}, {"cores", cache.cores}});
    return all;
}

int examine(bool json) {
    const results::Versions built = versions();
    std::vector<std::string> workloads;
    for (const workloads::Kind& kind : workloads::all()) workloads.push_back(kind.name);
    const unsigned cores = host::machine_cores();
    const std::string mpi = native::mpi_version();
    if (json) {
        const nlohmann::ordered_json object = {{"heddle", built.heddle},
                                               {"compiler", built.compiler},
                                               {"simulation", has_simulation()},
                                               {"simgrid", built.simgrid},
                                               {"mpi", mpi},
                                               {"workloads", workloads},
                                               {"stealing", runtime::victim_policies()},
                                               {"partitioners", partitioners::placement_names()},
                                               {"host", host::host_name()},
                                               {"cores", cores},
                                               {"cores_by_memory", host::cores_by_memory()},
                                               {"caches", caches_as_json()}};
        std::cout << object.dump(2) << "\n";
        return success;
    }
    const std::string simulation = has_simulation()
                                       ? fmt::format("yes, SimGrid {}", built.simgrid)
                                       : "no (built with HEDDLE_SIM=OFF; --backend sim is refused)";
    std::cout << columns(
        {{"heddle", built.heddle},
         {"compiler", built.compiler},
         {"simulation", simulation},
         {"MPI", mpi.empty() ? "no (none was found; platform.transport: mpi is refused)" : mpi},
         {"workloads", listed(workloads)},
         {"stealing", listed(runtime::victim_policies())},
         {"partitioners", listed(partitioners::placement_names())},
         {"host", host::host_name()},
         {"cores", fmt::format("{} for native workers", cores)},
         {"memory", memory_in_words()},
         {"caches", caches_in_words()}},
        2);
    return success;
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
    struct Options {
        bool json = false;
        std::string hosts, hostfile, remote_shell;
    };
    const auto given = std::make_shared<Options>();
    CLI::App* verb = app.add_subcommand(
        "doctor", "say what this binary is and what the machine offers, or what is odd about hosts");
    verb->add_flag("--json", given->json, "print one JSON object");
    verb->add_option("--hosts", given->hosts, "examine these hosts, and the network between them: a,b:2");
    verb->add_option("--hostfile", given->hostfile, "a file with such hosts, one a line");
    verb->add_option("--ssh", given->remote_shell, "the command that runs a command on a host; default: ssh");
    refuse_beside(*verb, "--hosts", {"--hostfile"});
    verb->callback([given, &action] {
        action = [given] {
            const bool here = given->hosts.empty() && given->hostfile.empty();
            if (here && !given->remote_shell.empty())
                throw Error("--ssh goes with several hosts", "add --hosts or --hostfile");
            if (here) return examine(given->json);
            std::vector<std::string> shell = native::RemoteShell{}.before;
            if (!given->remote_shell.empty()) shell = host::words_of(given->remote_shell);
            return report_hosts(
                given->hosts.empty() ? host::read_hostfile(given->hostfile) : host::parse_hosts(given->hosts),
                shell, given->json);
        };
    });
    // What `doctor --hosts` starts on each host.
    CLI::App* part = app.add_subcommand("doctor-part", "");
    part->group("");
    part->callback([&action] { action = [] { return doctor_part(); }; });
}

}  // namespace heddle::cli
