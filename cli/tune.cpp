// `heddle tune`: runs collective calls by every algorithm, natively or in simulation. It writes a file of
// rules that says which algorithm a call takes.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/output_file.hpp"
#include "base/printable.hpp"
#include "base/units.hpp"
#include "cli/cell_runner.hpp"
#include "cli/comparison_plan.hpp"
#include "cli/option_rules.hpp"
#include "cli/override_options.hpp"
#include "cli/text_table.hpp"
#include "cli/tuning.hpp"
#include "cli/tuning_file.hpp"
#include "cli/tuning_grid.hpp"
#include "cli/verbs.hpp"
#include "cli/worlds.hpp"
#include "host/machine.hpp"
#include "results/store.hpp"

namespace heddle::cli {

namespace {

namespace fs = std::filesystem;
using configs::Backend;
using results::Outcome;

struct TuneOptions {
    std::string file;
    OverrideOptions overrides;
    std::string operations, bytes, nodes, threads;
    std::string out;
    std::size_t jobs = 0;
};

constexpr const char* default_bytes = "8..2MiB*8";
constexpr std::uint32_t native_runs = 5;

/// What is tuned if the command line names no file.
constexpr const char* default_file =
    "# The platform whose keys all have their defaults.\n"
    "workload: {name: collective}\n"
    "backend: sim\n";

/// Where results go: beside the rules, or, if those are written into a device or a pipe, into a folder that
/// is removed.
class Places {
public:
    explicit Places(const std::string& out) {
        std::error_code problem;
        const fs::path parent = fs::weakly_canonical(fs::absolute(out), problem).parent_path();
        const std::string folder = parent.string() + "/";
        const bool is_device = folder.starts_with("/dev/") || folder.starts_with("/proc/") ||
                               (fs::exists(out, problem) && !fs::is_regular_file(out, problem) &&
                                !fs::is_directory(out, problem));
        if (!is_device) {
            const std::string ending = fs::path(out).extension().string();
            if (ending == ".csv" || ending == ".runs")
                throw Error(fmt::format("--out {}: {} is the ending of the readings beside it", out, ending),
                            "name a file that ends in .yaml");
            csv = fs::path(out).replace_extension(".csv").string();
            runs = fs::path(out).replace_extension(".runs").string();
            return;
        }
        const fs::path temporary = fs::temp_directory_path(problem);
        std::string name = (temporary / "heddle-tune-XXXXXX").string();
        if (problem || ::mkdtemp(name.data()) == nullptr)
            throw Error(problem ? "there is no folder for temporary files"
                                : fmt::format("no folder can be made in {}", temporary.string()),
                        "set TMPDIR to a folder that can be written");
        runs = removed_ = name;
    }
    ~Places() {
        std::error_code ignored;
        if (!removed_.empty()) fs::remove_all(removed_, ignored);
    }
    Places(const Places&) = delete;
    Places& operator=(const Places&) = delete;

    std::string csv;  ///< empty: none
    std::string runs;

private:
    std::string removed_;
};

/// The experiment that all calls have in common; of an empty name the default one. Throws Error if it is of
/// another workload.
configs::Experiment read_base(const std::string& file, const std::vector<configs::Override>& overrides) {
    configs::Experiment base = file.empty()
                                   ? configs::read_experiment_text(default_file, "heddle tune", overrides)
                                   : configs::read_experiment(file, overrides);
    if (base.kind->name != "collective")
        throw Error(fmt::format("tune measures collective calls, and this is {}", base.kind->name),
                    "name a file with `workload: {name: collective}`", base.where("workload.name"));
    if (!base.compare.axes.empty())
        throw Error("tune chooses itself what it compares",
                    "leave the `compare` section out, and state --operations, --bytes, --nodes and --threads",
                    base.compare.axes.front().where);
    if (base.backend == Backend::inprocess)
        throw Error("calls have no time in the in-process world", "choose --backend sim or native",
                    base.where("backend"));
    return base;
}

/// Whether ranks may have groups (spmd::Levels). Without them algorithms with levels would be others again.
bool has_groups(const configs::Experiment& base) {
    const Platform& platform = base.platform;
    return base.settings.text("ranks") == "threads" || base.settings.integer<std::uint32_t>("group") > 0 ||
           platform.processes > 1 || !platform.file.empty() || !platform.networks.empty() ||
           platform.network.topology != Network::Topology::star;
}

TuningGrid tuning_grid_of(const TuneOptions& options, const configs::Experiment& base) {
    const bool native = base.backend == Backend::native;
    const auto numbers = [&](const char* option, const std::string& given, const char* key,
                             std::uint64_t stated, const char* usual) {
        const std::string text = !given.empty()        ? given
                                 : base.is_stated(key) ? std::to_string(stated)
                                                       : usual;
        return grid_values(option, text, GridUnit::count);
    };
    return {
        grid_operations(options.operations),
        numbers("--nodes", options.nodes, "platform.nodes", base.platform.nodes, native ? "2" : "2,4,8"),
        numbers("--threads", options.threads, "platform.cores", base.platform.cores, native ? "1" : "1,2"),
        grid_values("--bytes", options.bytes.empty() ? default_bytes : options.bytes, GridUnit::bytes,
                    std::ranges::find(base.settings.declared(), "bytes", &Setting::name)->at_most),
        has_groups(base)};
}

/// What an algorithm's runs of one call have left. Throws Error for a run that has failed other than by
/// refusing the call, and if some runs were refused and others were not.
TunedRuns runs_of(const Plan& plan, std::size_t combination, const std::vector<Outcome>& outcomes,
                  const std::string& operation, const std::string& algorithm) {
    TunedRuns runs{algorithm};
    for (const std::size_t cell : plan.runs[combination]) {
        const Outcome& outcome = outcomes[cell];
        const auto failed = [&](const std::string& why) {
            return Error(fmt::format("{}: {}", plan.described(plan.cells[cell]), why),
                         "no rules were written; the same command goes on from here");
        };
        // A call that cannot be done is refused in each run, so a refusal beside a time is none of the call.
        const bool refusal = outcome.state == Outcome::State::failed && outcome.failure.exit_code == refused;
        if (refusal && !runs.measured()) {
            runs.refusal = outcome.failure.error;
            continue;
        }
        if (outcome.state != Outcome::State::right)
            throw failed(outcome.bad() ? outcome.failure.error : "it left no result");
        if (!runs.refusal.empty()) throw failed("it was not refused, as another run was: " + runs.refusal);
        std::vector<std::string> by;
        for (const auto& [name, value] : outcome.answer) {
            if (name == "call_time") runs.seconds.push_back(value);
            if (name.starts_with(operation + "_by_")) by.push_back(name.substr(operation.size() + 4));
        }
        runs.ran.clear();
        for (const std::string& name : by) runs.ran += (runs.ran.empty() ? "" : " + ") + name;
    }
    return runs;
}

std::vector<TunedCall> calls_of(const Plan& plan, const std::vector<Outcome>& outcomes) {
    constexpr std::uint64_t element_bytes = 8;
    std::map<std::tuple<spmd::Operation, std::uint64_t, std::uint64_t, std::uint64_t>, TunedCall> calls;
    for (std::size_t i = 0; i < plan.combinations.all.size(); ++i) {
        const configs::Experiment& experiment = plan.combinations.all[i].experiment;
        const std::string name = experiment.settings.text("operation");
        const spmd::Operation operation = *std::ranges::find_if(
            spmd::operations, [&](spmd::Operation each) { return name_of(each) == name; });
        const auto stated = experiment.settings.integer<std::uint64_t>("bytes");
        const std::uint64_t bytes = (stated + element_bytes - 1) / element_bytes * element_bytes;
        TunedCall& call = calls[{operation, experiment.platform.nodes, experiment.platform.cores, bytes}];
        call.operation = operation;
        call.nodes = experiment.platform.nodes;
        call.threads = experiment.platform.cores;
        call.bytes = bytes;
        const std::string algorithm = experiment.settings.text("algorithm");
        TunedRuns runs = runs_of(plan, i, outcomes, name, algorithm);
        if (algorithm == spmd::automatic) {
            call.automatic = std::move(runs);
        } else if (std::ranges::find(call.algorithms, algorithm, &TunedRuns::algorithm) ==
                   call.algorithms.end()) {
            runs.ran = algorithm;
            call.algorithms.push_back(std::move(runs));
        }
    }
    std::vector<TunedCall> all;
    for (auto& [key, call] : calls) all.push_back(std::move(call));
    return all;
}

/// Names the algorithms that cannot do a call.
void name_refusals(const std::vector<TunedCall>& calls) {
    constexpr std::size_t named_max = 20;
    std::size_t count = 0;
    const auto name = [&](const TunedCall& call, const TunedRuns& runs) {
        if (runs.refusal.empty() || ++count > named_max) return;
        std::cerr << fmt::format("skipped: {} by {}: {}\n", described(call), runs.algorithm,
                                 printable(runs.refusal));
    };
    for (const TunedCall& call : calls) {
        for (const TunedRuns& runs : call.algorithms) name(call, runs);
        name(call, call.automatic);
    }
    if (count > named_max) std::cerr << fmt::format("  and {} more\n", grouped(count - named_max));
}

/// A section of the resolved configuration in one line, without what varies.
std::string section_in_words(const configs::Experiment& base, const char* section,
                             std::initializer_list<const char*> without) {
    nlohmann::ordered_json values = nlohmann::ordered_json::parse(configs::resolved_json(base)).at(section);
    for (const char* key : without) values.erase(key);
    return fmt::format("{}: {}", section,
                       values.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace));
}

/// Equal tunings in simulation have equal heads, so no machine and no date is named.
std::vector<std::string> head_of(const configs::Experiment& base) {
    const bool native = base.backend == Backend::native;
    const auto seeds = base.repeat == 1
                           ? fmt::format("seed {}", base.seed)
                           : fmt::format("seeds {} to {}", base.seed, base.seed + base.repeat - 1);
    return {
        fmt::format("Which algorithm a collective call takes. `heddle tune` of heddle {} measured it {}.",
                    versions().heddle,
                    native ? "natively on " + printable(host::host_name()) : "in simulation"),
        "A run uses it as `workload: {name: collective, rules: FILE}`, in simulation and natively.",
        fmt::format("Times are medians of {} run{} ({}) of {} calls. Behind a rule: its least and largest",
                    base.repeat, base.repeat == 1 ? "" : "s", seeds,
                    base.settings.integer<std::uint64_t>("repeats")),
        "measured size, the time of a call, and in brackets that of the next algorithm.",
        section_in_words(base, "workload", {"name", "operation", "algorithm", "bytes", "repeats"}),
        section_in_words(base, "platform", {"nodes", "cores"})};
}

/// Writes and prints what the runs have shown.
int conclude_tuning(const Plan& plan, const std::vector<Outcome>& outcomes, OutputFile& rules,
                    const std::string& out, const std::string& csv) {
    std::vector<TunedCall> calls = calls_of(plan, outcomes);
    refuse_contradictions(calls);
    name_refusals(calls);
    const std::string readings = tuning_csv(calls);
    std::string refusal;
    for (const TunedCall& call : calls)
        if (refusal.empty() && !call.measured()) refusal = call.algorithms.front().refusal;
    choose(calls);
    if (calls.empty())
        throw Error(fmt::format("no algorithm can do any of these calls: {}", printable(refusal)),
                    "choose other --nodes, --threads or --bytes");
    if (!csv.empty()) write_file(csv, readings, OutputFile::Durable::no, {"the table of readings"});
    rules.write(rules_yaml(calls, head_of(plan.combinations.all.front().experiment)));
    rules.commit();
    std::cout << printable_lines(tuning_table(calls));
    if (const std::string words = automatic_in_words(calls); !words.empty()) std::cout << words << "\n";
    std::cout << fmt::format("{}: {} rules from {} calls{}\n", out, rules_of(calls).size(),
                             grouped(calls.size()), csv.empty() ? "" : "; readings in " + csv);
    return success;
}

/// A value that every call replaces by its own would have no effect.
void refuse_varied(const TuneOptions& options, const std::vector<configs::Override>& overrides) {
    const std::map<std::string, std::string> advice = {
        {"workload.operation", "state --operations"},
        {"workload.bytes", "state --bytes"},
        {"workload.algorithm", "leave it out: all are measured"},
        {"platform.nodes", options.nodes.empty() ? "" : "state it by --nodes alone"},
        {"platform.cores", options.threads.empty() ? "" : "state it by --threads alone"}};
    for (const configs::Override& given : overrides) {
        const auto found = advice.find(given.key);
        if (found != advice.end() && !found->second.empty())
            throw Error("tune varies it itself", found->second, {given.origin, 0});
    }
}

int tune(const TuneOptions& options) {
    refuse_launch("tune", "native calls are launched on as many nodes as --nodes states");
    std::vector<configs::Override> overrides = overrides_of(options.overrides);
    refuse_varied(options, overrides);
    const configs::Experiment base = read_base(options.file, overrides);
    const Places places(options.out);
    for (const std::string& out : {options.out, places.csv})
        refuse_input_as_out(out, configs::files_read(base));
    const bool native = base.backend == Backend::native;
    const TuningGrid grid = tuning_grid_of(options, base);
    if (native && !base.is_stated("repeat"))
        overrides.push_back({"repeat", std::to_string(native_runs), "heddle tune"});
    overrides.push_back({"compare", compare_section(grid), "heddle tune"});

    // What cannot be written is to be known before hours of work.
    OutputFile rules(options.out,
                     {"the file of rules", "name another file with --out, or make its folder writable"});
    if (!places.csv.empty()) const OutputFile readings(places.csv, {"the table of readings"});
    const results::Store store(places.runs, results::Store::Tables::leave);
    const std::string file = options.file.empty() ? places.runs + "/tune.yaml" : options.file;
    if (options.file.empty()) results::write_atomically(file, default_file);
    const Plan plan = make_plan(file, overrides);

    std::vector<Outcome> outcomes;
    for (const Cell& cell : plan.cells) outcomes.push_back(results::read_outcome(places.runs, cell.name));
    std::cerr << fmt::format("tune: {} operations, {} runs {}; results in {}\n", grid.operations.size(),
                             grouped(plan.cells.size()), native ? "natively" : "in simulation", places.runs);
    RunnerOptions runner;
    runner.directory = places.runs;
    runner.width = options.jobs > 0 ? options.jobs : host::machine_cores();
    runner.retry_failed = true;
    runner.name_failures = false;
    if (const int signal = run_cells(plan, runner, outcomes)) {
        std::cerr << fmt::format("heddle: stopped; the same command goes on from here ({})\n", places.runs);
        return 128 + signal;
    }
    return conclude_tuning(plan, outcomes, rules, options.out, places.csv);
}

}  // namespace

void add_tune(CLI::App& app, Action& action) {
    const auto options = std::make_shared<TuneOptions>();
    options->out = "collectives.yaml";
    CLI::App* verb = app.add_subcommand(
        "tune", "measure collective calls, and write rules that say which algorithm each takes");
    verb->add_option("FILE", options->file,
                     "an experiment with the workload collective; else the default platform in simulation");
    add_override_options(*verb, options->overrides);
    verb->add_option("--operations", options->operations,
                     "such as all_reduce,broadcast; all that have several algorithms")
        ->type_name("NAMES");
    verb->add_option("--bytes", options->bytes, fmt::format("sizes, such as 8,1KiB,64KiB; {}", default_bytes))
        ->type_name("LIST");
    verb->add_option("--nodes", options->nodes, "those of FILE, or 2,4,8; natively 2")->type_name("LIST");
    verb->add_option("--threads", options->threads, "of a node: those of FILE, or 1,2; natively 1")
        ->type_name("LIST");
    verb->add_option("--out", options->out, "the file of rules; collectives.yaml")->type_name("FILE");
    verb->add_option("--jobs", options->jobs, "processes at a time; as many as the machine has cores")
        ->check(CLI::Range(1, 4096));
    verb->callback([options, &action] { action = [options] { return tune(*options); }; });
}

}  // namespace heddle::cli
