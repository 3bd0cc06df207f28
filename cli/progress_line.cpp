// Rewrites one line of standard error from a timer's thread while a run goes on.
#include "cli/progress_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/units.hpp"
#include "cli/text_table.hpp"
#include "host/ticker.hpp"
#include "host/wall_clock.hpp"

namespace heddle::cli {

std::string run_progress_text(const std::string& what, std::uint64_t tasks, double elapsed, double wall) {
    if (tasks == 0 && elapsed == 0) return fmt::format("{}: setting up, {:.0f} s", what, wall);
    return fmt::format("{}: {} tasks, at {}, {:.0f} s", what, grouped(tasks), show_seconds(elapsed), wall);
}

struct ProgressLine::State {
    State(const runtime::Progress& followed, std::string name) : progress(followed), what(std::move(name)) {}

    void tick() {
        const double wall = host::wall_seconds() - began;
        const std::uint64_t tasks = progress.tasks();
        const std::string line = run_progress_text(what, tasks, to_seconds(progress.elapsed()), wall);
        std::fputs(terminal ? fmt::format("\r\033[K{}", line).c_str() : fmt::format("{}\n", line).c_str(),
                   stderr);
        std::fflush(stderr);
        shown = true;
    }

    const runtime::Progress& progress;
    std::string what;
    bool terminal = ::isatty(STDERR_FILENO) == 1;
    double began = host::wall_seconds();
    std::atomic<bool> shown{false};
    std::optional<host::Ticker> ticker;
};

ProgressLine::ProgressLine(const runtime::Progress& progress, std::string what, When when)
    : state_(std::make_unique<State>(progress, std::move(what))) {
    if (when == When::never || (when == When::on_terminal && !state_->terminal)) return;
    const auto every = std::chrono::milliseconds(state_->terminal ? 200 : 2000);
    state_->ticker.emplace(std::chrono::milliseconds(2000), every, [state = state_.get()] { state->tick(); });
}

ProgressLine::~ProgressLine() {
    state_->ticker.reset();
    if (state_->shown && state_->terminal) std::fputs("\r\033[K", stderr);
}

}  // namespace heddle::cli
