// `heddle doctor --hosts`: reports the state of several hosts and of the network between them, oddities, and
// how to mend them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/host_list.hpp"

namespace heddle::cli {

using DoctorJson = nlohmann::ordered_json;

/// What each host says of itself, and what each pair measures: `nodes` and `pairs`. Starts the verb
/// `doctor-part` of this binary on each host by the words `remote_shell`, the host and one word for the shell
/// there.
DoctorJson examine_hosts(const std::vector<host::HostSlots>& hosts,
                         const std::vector<std::string>& remote_shell);

struct Oddity {
    std::string what;
    std::string advice;
    bool prevents = false;  ///< a run on these hosts would fail
};

/// What is odd in what `examine_hosts` found. `build`: the id of this binary's code. `processes`: of the run.
std::vector<Oddity> oddities(const DoctorJson& found, const std::string& build, std::uint64_t processes);

/// Prints tables or one object. Returns the exit code: wrong_answer if a run would fail.
int report_hosts(const std::vector<host::HostSlots>& hosts, const std::vector<std::string>& remote_shell,
                 bool json);

/// What runs on each host: says what the host is like, answers probes, and makes those that standard input
/// asks for, until that ends.
int doctor_part();

}  // namespace heddle::cli
