// Runs `heddle doctor` on each host by ssh, and then has each two hosts measure the network between them,
// pair by pair.
#include "cli/doctor_hosts.hpp"

#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "base/error.hpp"
#include "base/printable.hpp"
#include "base/units.hpp"
#include "cli/text_table.hpp"
#include "cli/verbs.hpp"
#include "configs/program_code.hpp"
#include "host/command_line.hpp"
#include "host/conversation.hpp"
#include "host/machine.hpp"
#include "host/machine_state.hpp"
#include "runtime/native/membership.hpp"
#include "runtime/native/pair_probe.hpp"

namespace heddle::cli {

namespace {

using Json = DoctorJson;
using std::chrono::seconds;

constexpr std::size_t all_pairs_max = 16;  ///< of more hosts each probes the next one only
constexpr seconds host_patience{12};
constexpr seconds probe_patience{6};

std::string fresh_token() {
    std::string token;
    for (const unsigned char byte : native::make_key()) token += fmt::format("{:02x}", byte);
    return token.substr(0, native::ProbeServer::token_bytes);
}

std::string name_of(const std::string& host) {
    return host.substr(host.find('@') + 1);
}

/// What a host has said.
struct Heard {
    Json answer{Json::value_t::discarded};  ///< an object, or discarded
    std::string other;                      ///< the last line that is none
    bool ended = false;                     ///< without an answer
};

/// The first line that is an object. The shell there may greet before.
Heard hear(host::Conversation& talk, seconds time) {
    Heard heard;
    const native::Deadline end = native::Clock::now() + time;
    for (auto now = native::Clock::now(); now < end; now = native::Clock::now()) {
        const auto line = talk.hear(std::chrono::ceil<std::chrono::milliseconds>(end - now));
        heard.ended = !line && native::Clock::now() < end;
        if (!line) break;
        heard.answer = Json::parse(*line, nullptr, false);
        if (heard.answer.is_object()) return heard;
        if (!line->empty()) heard.other = *line;
    }
    heard.answer = Json(Json::value_t::discarded);
    return heard;
}

/// What a host is like, or why it does not say so.
Json hear_host(const std::string& host, seconds time, host::Conversation& talk,
               const std::vector<std::string>& remote_shell) {
    const Heard heard = hear(talk, time);
    if (heard.answer.is_object()) {
        Json named = {{"host", host}};
        named.update(heard.answer);
        return named;
    }
    std::string error = talk.last_error();
    if (error.empty() && !heard.other.empty()) error = fmt::format("it said only: {}", excerpt(heard.other));
    if (error.empty())
        error = heard.ended ? "it ended without an answer"
                            : fmt::format("it said nothing within {} s", time.count());
    return {{"host", host},
            {"error", error},
            {"advice", fmt::format("this must work without a question: {} {} true; and {} must be the same "
                                   "build there",
                                   fmt::join(remote_shell, " "), host, host::own_program())}};
}

}  // namespace

Json examine_hosts(const std::vector<host::HostSlots>& hosts, const std::vector<std::string>& remote_shell) {
    const std::string token = fresh_token();
    const std::string command = "exec " + host::shell_words({host::own_program(), "doctor-part"});
    std::vector<std::unique_ptr<host::Conversation>> talks;
    for (const host::HostSlots& entry : hosts) {
        std::vector<std::string> argv = remote_shell;
        argv.insert(argv.end(), {entry.host, command});
        talks.push_back(std::make_unique<host::Conversation>(argv));
        talks.back()->tell(token);
    }
    Json found = {{"nodes", Json::array()}, {"pairs", Json::array()}};
    for (std::size_t i = 0; i < hosts.size(); ++i)
        found["nodes"].push_back(hear_host(hosts[i].host, host_patience, *talks[i], remote_shell));
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        for (std::size_t j = 0; j < hosts.size(); ++j) {
            const bool probed = hosts.size() <= all_pairs_max ? i != j : j == i + 1;
            const Json& there = found["nodes"][j];
            if (!probed || found["nodes"][i].contains("error") || there.contains("error")) continue;
            talks[i]->tell(
                fmt::format("{}:{}", name_of(hosts[j].host), there["port"].get_ref<const std::string&>()));
            Json facts = {{"from", hosts[i].host}, {"to", hosts[j].host}};
            const Json measured = hear(*talks[i], 2 * probe_patience).answer;
            if (measured.is_object())
                facts.update(measured);
            else
                facts["error"] = "the host has stopped answering";
            found["pairs"].push_back(facts);
        }
    }
    return found;
}

namespace {

std::string shown_node_value(const Json& node, const char* key) {
    const Json value = node.value(key, Json());
    if (value.is_number_float()) return fmt::format("{:.2f}", value.get<double>());
    return value.is_null() ? "-" : value.is_string() ? value.get<std::string>() : value.dump();
}

std::string table_of_nodes(const Json& nodes) {
    std::vector<std::vector<std::string>> rows = {
        {"host", "build", "kernel", "cores", "quota", "load", "files", "memory"}};
    for (const Json& node : nodes) {
        if (node.contains("error")) continue;
        rows.push_back({node["host"], node["build"].get<std::string>().substr(0, 8), node["kernel"],
                        shown_node_value(node, "cores"), shown_node_value(node, "quota"),
                        shown_node_value(node, "load"), shown_node_value(node, "open_files_max"),
                        show_bytes(node["memory_bytes"].get<double>())});
    }
    return columns(rows, 3);
}

std::string table_of_pairs(const Json& pairs) {
    std::vector<std::vector<std::string>> rows = {{"from", "to", "latency", "bandwidth", "MTU", "clock"}};
    for (const Json& pair : pairs) {
        if (pair.contains("error")) continue;
        rows.push_back({pair["from"], pair["to"], show_seconds(pair["latency_seconds"].get<double>()),
                        show_bytes(pair["bandwidth"].get<double>()) + "/s", shown_node_value(pair, "mtu"),
                        fmt::format("{:+.3f} s", pair["clock_offset_seconds"].get<double>())});
    }
    return columns(rows, 2);
}

}  // namespace

int report_hosts(const std::vector<host::HostSlots>& hosts, const std::vector<std::string>& remote_shell,
                 bool json) {
    std::uint64_t processes = 0;
    for (const host::HostSlots& entry : hosts) processes += entry.slots;
    Json found = examine_hosts(hosts, remote_shell);
    const std::vector<Oddity> odd = oddities(found, configs::program_id(), processes);
    bool prevents = false;
    found["oddities"] = Json::array();
    for (const Oddity& oddity : odd) {
        prevents = prevents || oddity.prevents;
        found["oddities"].push_back(
            {{"what", oddity.what}, {"advice", oddity.advice}, {"prevents_runs", oddity.prevents}});
    }
    if (json) {
        std::cout << found.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
        return prevents ? wrong_answer : success;
    }
    std::cout << table_of_nodes(found["nodes"]) << "\n" << table_of_pairs(found["pairs"]) << "\n";
    if (odd.empty()) std::cout << "nothing is odd\n";
    for (const Oddity& oddity : odd)
        std::cout << fmt::format("{}: {}; {}\n", oddity.prevents ? "wrong" : "odd", oddity.what,
                                 oddity.advice);
    return prevents ? wrong_answer : success;
}

int doctor_part() {
    std::string token;
    if (!std::getline(std::cin, token) || token.size() != native::ProbeServer::token_bytes)
        throw Error("standard input does not say what to do", "`heddle doctor --hosts` starts this verb");
    const native::ProbeServer server(token);
    const host::MachineState state = host::machine_state();
    Json node = {{"name", host::host_name()},
                 {"build", configs::program_id()},
                 {"kernel", state.kernel},
                 {"cores", host::machine_cores()},
                 {"quota", state.quota ? Json(*state.quota) : Json()},
                 {"load", state.load},
                 {"open_files_max", state.open_files_max},
                 {"processes_max", state.processes_max},
                 {"memory_bytes", state.memory_bytes},
                 {"port", server.port()}};
    std::cout << node.dump() << "\n" << std::flush;
    for (std::string address; std::getline(std::cin, address);) {
        Json answer;
        try {
            const native::PairFacts facts =
                native::probe_pair(address, token, native::Clock::now() + probe_patience);
            answer = {{"latency_seconds", facts.latency_seconds},
                      {"bandwidth", facts.bandwidth},
                      {"mtu", facts.mtu},
                      {"clock_offset_seconds", facts.clock_offset_seconds}};
        } catch (const Error& error) {
            answer = {{"error", error.message()}};
        }
        std::cout << answer.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n" << std::flush;
    }
    return success;
}

}  // namespace heddle::cli
