// Prints the progress of a run on standard error, on one line, if the run takes longer than two seconds.
#pragma once

#include <memory>
#include <string>

#include "runtime/run/execution.hpp"

namespace heddle::cli {

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
