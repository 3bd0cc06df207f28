// Parses the command line, runs the verb, and turns errors into messages and exit codes.
#include "cli/main_function.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/memory_need.hpp"
#include "base/settings.hpp"
#include "cli/verbs.hpp"
#include "cli/worlds.hpp"
#include "host/limits.hpp"
#include "host/memory_limit.hpp"
#include "runtime/native/mpi_mesh.hpp"
#include "runtime/native/mpi_start.hpp"

namespace heddle::cli {

namespace {

constexpr const char* examples = R"(Examples:
  heddle run configs/quickstart.yaml
  heddle run configs/quickstart.yaml --set platform.nodes=1000 --set schedule.stealing.victim=lifeline
  heddle compare configs/experiments/stealing.yaml
  heddle launch -n 2 -- heddle run configs/fib.yaml)";

/// Those that users type.
std::vector<std::string> verb_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* verb : app.get_subcommands({}))
        if (!verb->get_group().empty()) names.push_back(verb->get_name());
    return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
        for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    }
    return names;
}

/// The verb that was typed, or its own subcommand.
const CLI::App& typed(const CLI::App& app) {
    const CLI::App* current = &app;
    while (!current->get_subcommands().empty()) current = current->get_subcommands().front();
    return *current;
}

/// The names of the typed verb and those above it: `platform show `. Empty if none was typed.
std::string typed_names(const CLI::App& app) {
    std::string names;
    for (const CLI::App* current = &app; !current->get_subcommands().empty();) {
        current = current->get_subcommands().front();
        names += current->get_name() + " ";
    }
    return names;
}

/// What is wrong with a command line that the parser refused.
Error explained(const CLI::ParseError& error, const CLI::App& app) {
    const CLI::App& verb = typed(app);
    const std::string help = fmt::format("see heddle {}--help", typed_names(app));
    const std::vector<std::string> words = app.remaining(true);
    const bool extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    const bool group = &verb == &app || !verb.get_subcommands({}).empty();
    if (dynamic_cast<const CLI::ExcludesError*>(&error))
        return Error(error.what(), "leave one of them out; " + help);
    if (words.empty() || !(extra || group)) return Error(error.what(), help);
    const auto option = std::find_if(words.begin(), words.end(),
                                     [](const std::string& word) { return word.starts_with('-'); });
    if (option != words.end()) {
        const std::string name = option->substr(0, option->find('='));
        return Error(fmt::format("unknown option {}", name), nearest_advice(name, option_names(verb)));
    }
    const std::string& word = words.front();
    if (group) return Error(fmt::format("unknown verb \"{}\"", word), nearest_advice(word, verb_names(verb)));
    return Error(fmt::format("one word too many: \"{}\"", word), help);
}

Error empty_value(const std::string& option) {
    return Error(fmt::format("{}: the value is empty", option), "state a value, or leave the option out");
}

/// Throws Error if an option of the typed verb has an empty value, as `--out "$UNSET"` gives it.
void refuse_empty_values(const CLI::App& app) {
    for (const CLI::Option* option : typed(app).get_options()) {
        const std::vector<std::string>& values = option->results();
        if (std::find(values.begin(), values.end(), "") != values.end())
            throw empty_value(option->get_name());
    }
}

/// Throws Error if an option is typed as `--out=`, which the parser takes for one without a value.
void refuse_bare_equals(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
        if (word == "--") return;
        if (word.starts_with("--") && word.ends_with('=')) throw empty_value(word.substr(0, word.size() - 1));
    }
}

/// Sets `understood` once the command line is, before it is acted upon.
int run_words(std::vector<std::string> words, bool& understood) {
    CLI::App app("One binary, two worlds: runs a program natively or on a simulated cluster.", "heddle");
    app.set_version_flag("--version", "heddle " + versions().heddle);
    app.footer(examples);
    app.require_subcommand(0, 1);

    // What comes after `--` belongs to the command that is launched.
    std::vector<std::string> command;
    if (!words.empty() && words.front() == "launch") {
        const auto dashes = std::find(words.begin(), words.end(), "--");
        if (dashes != words.end()) {
            command.assign(dashes + 1, words.end());
            words.erase(dashes, words.end());
        }
    }
    Action action;
    add_run(app, action);
    add_compare(app, action);
    add_schedule(app, action);
    add_partition(app, action);
    add_list(app, action);
    add_platform(app, action);
    add_launch(app, action, command);
    add_schema(app, action);
    add_doctor(app, action);
    add_report(app, action);
    add_calibrate(app, action);
    add_validate(app, action);
    add_tune(app, action);

    const std::vector<std::string> typed_words = words;
    try {
        std::reverse(words.begin(), words.end());  // as the parser wants them
        app.parse(words);
    } catch (const CLI::Success& wanted) {  // --help, --version
        return app.exit(wanted);
    } catch (const CLI::ArgumentMismatch& error) {
        refuse_bare_equals(typed_words);
        throw explained(error, app);
    } catch (const CLI::ParseError& error) {
        throw explained(error, app);
    }
    refuse_empty_values(app);
    if (!action) {
        std::cout << app.help();
        return success;
    }
    understood = true;
    return action();
}

/// Whether this process may speak of a mistake on a command line, which all processes of a run have alike.
bool speaks() {
    try {
        return part_of_this_process().speaks();
    } catch (const Error&) {
        return true;
    }
}

/// A rank of MPI's behind the first lets that one speak of a mistake, which is most likely the same.
void wait_for_turn() {
    if (native::mpi_hint().value_or(native::MpiHint{}).rank > 0) native::let_rank_0_speak();
}

int run_and_report(int argc, char** argv) {
    int code = our_mistake;
    bool understood = false;
    // Standard output is for results.
    spdlog::set_default_logger(
        std::make_shared<spdlog::logger>("heddle", std::make_shared<spdlog::sinks::stderr_color_sink_mt>()));
    if (const auto bytes = host::available_memory_bytes()) set_available_memory(*bytes);
    try {
        code = run_words(std::vector<std::string>(argv + 1, argv + argc), understood);
    } catch (const Error& error) {
        wait_for_turn();
        if (understood || speaks()) std::cerr << fmt::format("heddle: {}\n", error.what());
        code = exit_code_of(error);
    } catch (const std::bad_alloc&) {
        wait_for_turn();
        std::cerr
            << "heddle: there is no more memory; make the platform or the workload smaller, or raise the "
               "limit (ulimit -v)\n";
        code = mistake;
    } catch (const std::exception& error) {
        wait_for_turn();
        if (const auto exhausted = host::exhausted_resource(std::current_exception())) {
            std::cerr << fmt::format("heddle: {}\n", exhausted->what());
            code = mistake;
        } else if (const auto* files = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
            // A removed current folder has no path.
            const std::string path = files->path1().string();
            std::cerr << fmt::format(
                "heddle: {}\n", path.empty()
                                    ? error.what()
                                    : fmt::format("{}: cannot be used ({})", path, files->code().message()));
            code = mistake;
        } else {
            std::cerr << fmt::format("heddle: a mistake of heddle's own: {}\n", error.what());
        }
    }
    std::cout.flush();
    if (std::cout) return code;
    std::cerr << "heddle: standard output could not be written\n";
    // The code of a failure stays. The others say that there is a result to read.
    return code == success || code == undecided ? mistake : code;
}

}  // namespace

int run_main(int argc, char** argv) {
    host::report_large_files();
    const int code = run_and_report(argc, argv);
    if (code != success) native::let_launcher_read();
    native::leave_mpi(code);
    return code;
}

}  // namespace heddle::cli
