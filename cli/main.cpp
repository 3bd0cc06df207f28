// The entry point of `heddle`, and of any program that links heddle::main.
#include "cli/main_function.hpp"

int main(int argc, char** argv) {
    return heddle::cli::run_main(argc, argv);
}
