// Prints the progress of a run on standard error, on one line, if the run takes longer than two seconds.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/run/execution.hpp"

namespace heddle::cli {

/// What the line says of a run after `wall` seconds of waiting for it. A run that has neither tasks nor time
/// yet is being set up, as a large network is.
std::string run_progress_text(const std::string& what, std::uint64_t tasks, double elapsed, double wall);

class ProgressLine {
public:
    enum class When : std::uint8_t { never, on_terminal, always };

    /// Follows `progress`, which must outlive this. `what` names the run.
    ProgressLine(const runtime::Progress& progress, std::string what, When when);

    /// Removes the line from a terminal.
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace heddle::cli
