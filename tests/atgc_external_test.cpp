// Runs ATGC (genome comparison) on real sequences: the scores are those that independent programs found,
// natively and on a simulated cluster of 60 dual-processor nodes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "runtime/native/native_backend.hpp"
#include "workloads/workload.hpp"
#ifdef HEDDLE_SIM
#include "sim/sim_backend.hpp"
#endif

namespace heddle {
namespace {

namespace fs = std::filesystem;
using Stated = std::vector<std::pair<std::string, std::string>>;

class AtgcReal : public testing::Test {
protected:
    void SetUp() override {
        if (!fs::exists(data_)) GTEST_SKIP() << data_ << " is absent";
    }
    std::string path(const std::string& name) const { return (data_ / name).string(); }

    /// The answer's value, which must be the same natively and simulated.
    double value_of(const Stated& stated, const std::string& name) const {
        Settings settings(workloads::find("atgc").settings);
        settings.set("check", "none");
        for (const auto& [key, value] : stated) settings.set(key, value);
        native::NativeOptions options;
        options.cores = 2;
        native::NativeBackend native(options);
        const double found = value_on(native, settings, name);
#ifdef HEDDLE_SIM
        Platform platform;
        platform.nodes = 60;
        platform.cores = 2;
        sim::SimBackend simulated(platform);
        EXPECT_EQ(value_on(simulated, settings, name), found);
#endif
        return found;
    }

private:
    static double value_on(runtime::Backend& backend, const Settings& settings, const std::string& name) {
        const auto workload = workloads::find("atgc").make(settings);
        const runtime::Schedule schedule;
        runtime::Execution execution(backend, schedule, [&](NodeId id) { return workload->program(id); });
        for (const auto& value : execution.run().answer)
            if (value.name == name) return value.value;
        ADD_FAILURE() << "no " << name;
        return 0;
    }

    const fs::path data_ = fs::path(HEDDLE_SOURCE_DIR) / ".." / "shared" / "data" / "genome";
};

TEST_F(AtgcReal, HelicobacterScores) {
    const Stated both{{"a", path("H_pylori26695_Bslice.fasta")}, {"b", path("H_pyloriJ99_Bslice.fasta")}};
    Stated first = both;
    first.emplace_back("length", "2000");
    EXPECT_EQ(value_of(first, "score"), 1692);
    first.back().second = "6000";
    EXPECT_EQ(value_of(first, "score"), 4655);
    Stated whole = both;
    whole.insert(whole.end(), {{"match", "2"}, {"mismatch", "1"}, {"gap_open", "2"}});
    EXPECT_EQ(value_of(whole, "score"), 108393);
}

TEST_F(AtgcReal, ProteinPairsScore) {
    std::ifstream file(path("prot.20.aa"), std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    // A line that is no FASTA comes first.
    const fs::path records = fs::temp_directory_path() / ("heddle-proteins-" + std::to_string(::getpid()));
    std::ofstream(records) << text.str().substr(text.str().find('>'));
    const Stated stated{{"a", records.string()},
                        {"alphabet", "protein"},
                        {"matrix", "blosum62"},
                        {"gap_open", "10"},
                        {"gap_extend", "1"}};
    EXPECT_EQ(value_of(stated, "pairs"), 190);
    EXPECT_EQ(value_of(stated, "sum"), 9011);
    fs::remove(records);
}

}  // namespace
}  // namespace heddle
