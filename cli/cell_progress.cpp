// Draws the bar of a comparison's progress, or prints a line from time to time if there is no terminal.
#include "cli/cell_progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "base/printable.hpp"
#include "cli/text_table.hpp"
#include "host/wall_clock.hpp"

namespace heddle::cli {

namespace {

constexpr double seconds_between_lines = 10;

void write_error(const std::string& text) {
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
}

}  // namespace

std::string duration_in_words(double seconds) {
    const auto whole = static_cast<std::uint64_t>(std::ceil(std::max(0.0, seconds)));
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string progress_text(const CellCounts& counts, bool terminal) {
    std::string text = fmt::format("{} of {} cells", grouped(counts.finished), grouped(counts.total));
    if (counts.failed > 0) text += fmt::format(", {} failed", grouped(counts.failed));
    if (counts.finished < counts.total && counts.seconds_left >= 0)
        text += fmt::format(", about {} left", duration_in_words(counts.seconds_left));
    if (!terminal) return text;
    constexpr std::size_t width = 30;
    const std::size_t full = counts.total == 0 ? width : width * counts.finished / counts.total;
    return fmt::format("[{}{}] {}", std::string(full, '='), std::string(width - full, ' '), text);
}

CellProgress::CellProgress()
    : terminal_(::isatty(STDERR_FILENO) == 1), next_line_(host::wall_seconds() + seconds_between_lines) {}

CellProgress::~CellProgress() {
    erase();
}

void CellProgress::erase() {
    if (shown_) write_error("\r\033[K");
    shown_ = false;
}

void CellProgress::show(const CellCounts& counts) {
    if (terminal_) {
        write_error("\r\033[K" + progress_text(counts, true));
        shown_ = true;
    } else if (host::wall_seconds() >= next_line_) {
        write_error(progress_text(counts, false) + "\n");
        next_line_ = host::wall_seconds() + seconds_between_lines;
    }
}

void CellProgress::say(const std::string& line) {
    erase();
    write_error(printable(line) + "\n");
}

}  // namespace heddle::cli
