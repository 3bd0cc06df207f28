// Damages configurations at random: each is read or refused with an Error, without a crash.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/random.hpp"
#include "configs/experiment.hpp"

namespace heddle::configs {
namespace {

std::vector<std::string> shipped() {
    std::vector<std::string> texts;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(HEDDLE_SOURCE_DIR "/configs")) {
        if (entry.path().extension() != ".yaml") continue;
        std::ifstream file(entry.path());
        texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    texts.push_back(
        "workload: &w {name: fib}\nplatform:\n  nodes: 4\n  network: {shape: [2, 2]}\ncompare:\n  seed: [1, "
        "2]\n");
    return texts;
}

TEST(Config, AnyDamageIsEitherReadOrRefused) {
    const std::vector<std::string> texts = shipped();
    constexpr std::string_view spice = ":{}[],&*#|>'\"-!%@`?\t\n\r ~\\0\x80\xff\x01=<";
    Random random(2000);
    int read = 0, refused = 0;
    for (int i = 0; i < 2000; ++i) {
        std::string text = texts[random.below(texts.size())];
        for (std::uint64_t change = 1 + random.below(4); change > 0; --change) {
            const std::size_t at = random.below(text.size());
            switch (random.below(5)) {
                case 0:
                    text[at] = static_cast<char>(random.below(256));
                    break;
                case 1:
                    text[at] = spice[random.below(spice.size())];
                    break;
                case 2:
                    text.insert(at, 1, spice[random.below(spice.size())]);
                    break;
                case 3:
                    text.erase(at, 1 + random.below(8));
                    break;
                default:
                    text.insert(at, text.substr(random.below(text.size()), random.below(40)));
            }
            if (text.empty()) text = " ";
        }
        try {
            const Experiment experiment = read_experiment_text(text, "fuzz.yaml");
            // What is read can be written, and is read again.
            read_experiment_text(resolved_yaml(experiment), "again.yaml");
            ++read;
        } catch (const Error& error) {
            EXPECT_EQ(error.where().file, "fuzz.yaml") << error.what() << "\n" << text;
            ++refused;
        }
    }
    EXPECT_GT(read, 100);
    EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace heddle::configs
