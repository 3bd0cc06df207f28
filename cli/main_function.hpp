// The program `heddle`, as a function: a project with workloads of its own links heddle::main, or calls this.
#pragma once

namespace heddle::cli {

/// Runs one command line. Returns the exit code: 0, 1 for a wrong answer, 2 for a mistake in a configuration
/// or on the command line, 4 where another node was lost. Lets no exception out.
int run_main(int argc, char** argv);

}  // namespace heddle::cli
