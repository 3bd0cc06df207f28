// A fuzz target for configurations: a document, an experiment and a platform. The workload has a setting of
// each kind and computes nothing, so that no input causes much work.
#include "configs/combinations.hpp"
#include "configs/experiment.hpp"
#include "tests/fuzz/target.hpp"

namespace {

using namespace heddle;

class Probe final : public workloads::Workload {
public:
    std::unique_ptr<runtime::Program> program(NodeId) const override { return nullptr; }
    workloads::Verdict check(const runtime::RunResult&) const override { return {}; }
    std::vector<const runtime::TaskType*> tasks() const override { return {}; }
};

const workloads::Registration registration{
    {"fib",
     "a probe",
     {{"n", SettingKind::integer, "30", "a count", {}, 0, 78},
      {"share", SettingKind::number, "0.5", "a number", {}, 0, 1},
      {"label", SettingKind::text, "", "words"},
      {"loud", SettingKind::boolean, "false", "or not"},
      {"wait", SettingKind::time, "1us", "a time", {}, 0},
      {"unit_cost", SettingKind::flops, "20f", "work", {}, 0, flops_max},
      {"size", SettingKind::bytes, "4KiB", "a size", {}, 1, 1e15},
      {"amount", SettingKind::choice, "one", "a choice", {"one", "half"}},
      {"graph", SettingKind::input_path, "", "a file"},
      {"output", SettingKind::output_path, "", "a file"}},
     [](const Settings&) -> std::unique_ptr<workloads::Workload> { return std::make_unique<Probe>(); }}};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text = fuzz::text_of(data, size);
    fuzz::read_or_refuse([&] { configs::read_platform_text(text, "fuzz.yaml"); });
    fuzz::read_or_refuse([&] {
        const configs::Experiment experiment = configs::read_experiment_text(text, "fuzz.yaml");
        // What is read can be written, and is then read again.
        configs::read_experiment_text(configs::resolved_yaml(experiment), "again.yaml");
    });
    return 0;
}
