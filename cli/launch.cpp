// `heddle launch`: starts the processes of a native run on this machine.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>

#include "base/error.hpp"
#include "cli/verbs.hpp"
#include "runtime/native/launch.hpp"

namespace heddle::cli {

namespace {

/// `heddle` after the dashes is this very binary, whether or not it is on the path.
std::string program(const std::string& word) {
    if (word != "heddle") return word;
    std::error_code problem;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", problem);
    return problem ? word : self.string();
}

int launch(std::int64_t nodes, std::vector<std::string> command) {
    constexpr std::int64_t nodes_max = 4096;
    if (nodes < 1 || nodes > nodes_max) {
        throw Error(fmt::format("cannot launch {} nodes", nodes), fmt::format("-n takes 1 to {}", nodes_max));
    }
    if (command.empty()) {
        throw Error("nothing to launch", "write it like: heddle launch -n 2 -- heddle run configs/fib.yaml");
    }
    command.front() = program(command.front());
    native::LaunchOptions options;
    options.nodes = static_cast<NodeId>(nodes);
    options.argv = std::move(command);
    return native::LocalLauncher().launch(options);
}

}  // namespace

void add_launch(CLI::App& app, Action& action, const std::vector<std::string>& command) {
    const auto nodes = std::make_shared<std::int64_t>(0);
    CLI::App* verb = app.add_subcommand("launch", "start the processes of a native run on several nodes");
    verb->add_option("-n,--nodes", *nodes, "how many processes; each is one node")->required();
    verb->prefix_command();
    verb->footer("Everything after -- is the command: heddle launch -n 2 -- heddle run configs/fib.yaml");
    verb->callback([verb, nodes, command, &action] {
        std::vector<std::string> words = command.empty() ? verb->remaining() : command;
        action = [nodes, words] { return launch(*nodes, words); };
    });
}

}  // namespace heddle::cli
