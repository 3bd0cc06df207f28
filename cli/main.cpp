// The entry point of `heddle`, and of any program that links heddle::main.
#include <string_view>

#include "cli/main_function.hpp"
#include "host/descriptor.hpp"
#include "host/heap.hpp"

int main(int argc, char** argv) {
    heddle::host::fill_standard_descriptors();
    // The other verbs start a process for each run.
    const std::string_view verb = argc > 1 ? argv[1] : "";
    const bool runs_here = verb == "run" || verb == "calibrate";
    heddle::host::use_huge_pages(runs_here ? argv : nullptr);
    return heddle::cli::run_main(argc, argv);
}
