// `heddle doctor`: prints versions, what is built in, and what the machine offers.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/text_table.hpp"
#include "cli/verbs.hpp"
#include "cli/worlds.hpp"
#include "host/machine.hpp"
#include "partitioners/place_graph.hpp"
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
                                               {"cores", cores}};
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
         {"cores", fmt::format("{} for native workers", cores)}},
        2);
    return success;
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
    const auto json = std::make_shared<bool>(false);
    CLI::App* verb = app.add_subcommand("doctor", "say what this binary is and what the machine offers");
    verb->add_flag("--json", *json, "print one JSON object");
    verb->callback([json, &action] { action = [json] { return examine(*json); }; });
}

}  // namespace heddle::cli
