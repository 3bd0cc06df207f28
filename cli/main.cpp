// The entry point of `heddle`, and of any program that links heddle::main.
#include <string_view>

#include "cli/main_function.hpp"
#include "host/descriptor.hpp"
#include "host/heap.hpp"

int main(int argc, char** argv) {
    heddle::host::fill_standard_descriptors();
    // Most other verbs start a process for each run. A launcher may start programs of any kind, whose heap is
    // their own matter; those that run by this function ask for themselves.
    const std::string_view verb = argc > 1 ? argv[1] : "";
    const bool runs_here = verb == "run" || verb == "calibrate";
    const bool launches = verb == "launch" || verb == "launch-part";
    if (!launches) heddle::host::use_huge_pages(runs_here ? argv : nullptr);
    return heddle::cli::run_main(argc, argv);
}
