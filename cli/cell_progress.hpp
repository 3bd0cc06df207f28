// Shows the progress of a comparison on standard error: a bar on a terminal, else a line from time to time.
#pragma once

#include <cstddef>
#include <string>

namespace heddle::cli {

struct CellCounts {
    std::size_t total = 0;
    std::size_t finished = 0;  ///< also those that failed
    std::size_t failed = 0;
    double seconds_left = -1;  ///< below zero: unknown
};

class CellProgress {
public:
    CellProgress();

    /// Removes the bar from a terminal.
    ~CellProgress();
    CellProgress(const CellProgress&) = delete;
    CellProgress& operator=(const CellProgress&) = delete;

    /// Shows the bar again; elsewhere, a line at most every ten seconds.
    void show(const CellCounts& counts);

    /// Says something that stays, above the bar.
    void say(const std::string& line);

private:
    void erase();

    bool terminal_;
    bool shown_ = false;
    double next_line_;
};

/// The bar, or the line: for a terminal or not.
std::string progress_text(const CellCounts& counts, bool terminal);

/// A time as people say it: `43 s`, `4 min 10 s`, `2 h 05 min`.
std::string duration_in_words(double seconds);

}  // namespace heddle::cli
