// Lets a native node join and leave a running program, and ask for more nodes.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <exception>

#include "base/error.hpp"
#include "runtime/native/native_state.hpp"

namespace heddle::native {

/// The local workers have returned: because the run is over, or because this node leaves it.
bool NativeBackend::State::end_well() {
    if (!options.at_start || !program->has_left()) return coordination->finish() && transport->part();
    if (!coordination->leave()) return false;
    transport->leave();
    return true;
}

void NativeBackend::State::note_over() {
    if (options.on_over) return options.on_over();
    end_process(0, fmt::format("the run was over before node {} joined", rank));
}

void NativeBackend::State::begin_changes() {
    MemberChanges::Plan plan;
    const auto moment = [this](Time time) {
        return run_start.zero() + std::chrono::ceil<Clock::duration>(time);
    };
    if (options.leave_at) plan.leave_at = moment(*options.leave_at);
    for (const NativeOptions::Join& join : options.joins)
        plan.starts.push_back({moment(join.at), {1, join.node}});
    changes->begin(std::move(plan));
}

void NativeBackend::State::ask_to_leave() {
    if (rank == 0) {
        spdlog::warn("node 0 leads the run and cannot leave it");
        return;
    }
    if (options.routes && options.routes->is_gateway(rank)) {
        spdlog::warn("node {} is a gateway, over which others reach each other, and cannot leave the run",
                     rank);
        return;
    }
    transport->call([this] {
        try {
            program->leave();
        } catch (const std::exception& error) {
            end_process(exit_code_failed,
                        fmt::format("node {}, on its way to leave: {}", rank, error.what()));
        }
    });
}

void NativeBackend::State::request(const StartRequest& asked) {
    constexpr std::chrono::seconds patience{5};
    try {
        ask_for_nodes(*options.membership, asked, Clock::now() + patience);
    } catch (const Error& error) {
        spdlog::warn("node {} asked for more nodes and got none: {}", rank, error.message());
    }
}

}  // namespace heddle::native
