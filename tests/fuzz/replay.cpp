// Runs a fuzz target without libFuzzer: on every file of its corpus, and on inputs made of them by a seeded
// mutator. The same arguments give the same inputs everywhere.
//   fuzz_graphs CORPUS [MUTATIONS [SEED]]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "tests/fuzz/target.hpp"

namespace {

using heddle::Random;

std::vector<std::string> corpus_in(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    std::vector<std::string> texts;
    for (const auto& path : paths) {
        std::ifstream file(path, std::ios::binary);
        texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return texts;
}

/// Words that readers treat in their own way, and numbers at the ends of types.
constexpr std::string_view words[] = {"-1",
                                      "0",
                                      "4294967295",
                                      "4294967296",
                                      "18446744073709551616",
                                      "1e308",
                                      "1e-320",
                                      "nan",
                                      "inf",
                                      "\"",
                                      "\\",
                                      "<!--",
                                      "-->",
                                      "</config>",
                                      "<config",
                                      "{",
                                      "}",
                                      "[",
                                      "]",
                                      "\n",
                                      "\r\n",
                                      "\t",
                                      ":",
                                      ",",
                                      ";",
                                      "#",
                                      "%",
                                      ">",
                                      "->",
                                      "&a",
                                      "*a",
                                      "!!",
                                      "---",
                                      "\xff",
                                      "\xc3",
                                      std::string_view("\0", 1),
                                      "@TASK_GRAPH",
                                      "#tasks",
                                      "#edges",
                                      "digraph",
                                      "null",
                                      "true"};

/// One change. Texts stay below 64 KiB, so that no input is slow because it is long.
void mutate(std::string& text, const std::vector<std::string>& corpus, Random& random) {
    constexpr std::size_t bytes_max = 64 << 10;
    const std::size_t at = random.below(text.size() + 1);
    switch (random.below(7)) {
        case 0:
            if (at < text.size()) text[at] = static_cast<char>(random.below(256));
            break;
        case 1:
            if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << random.below(8)));
            break;
        case 2:
            text.erase(at, 1 + random.below(16));
            break;
        case 3: {
            const std::string piece = text.substr(random.below(text.size() + 1), random.below(64));
            text.insert(at, piece);
            break;
        }
        case 4: {
            const std::string& other = corpus[random.below(corpus.size())];
            text = text.substr(0, at) + other.substr(random.below(other.size() + 1));
            break;
        }
        default:
            text.insert(at, words[random.below(std::size(words))]);
    }
    if (text.size() > bytes_max) text.resize(bytes_max);
}

void run(const std::string& text) {
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: %s CORPUS [MUTATIONS [SEED]]\n", argv[0]);
        return 2;
    }
    const std::vector<std::string> corpus = corpus_in(argv[1]);
    const unsigned long mutations = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1000;
    const unsigned long seed = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 1;
    if (corpus.empty()) {
        std::fprintf(stderr, "no corpus in %s\n", argv[1]);
        return 2;
    }
    for (const std::string& text : corpus) run(text);
    const Random root(seed);
    for (unsigned long i = 0; i < mutations; ++i) {
        Random random = root.split(i);
        std::string text = corpus[random.below(corpus.size())];
        for (auto changes = 1 + random.below(6); changes > 0; --changes) mutate(text, corpus, random);
        // The file names the input of a crash.
        if (const char* path = std::getenv("HEDDLE_FUZZ_LAST")) std::ofstream(path, std::ios::binary) << text;
        run(text);
    }
    std::printf("%zu files of the corpus and %lu mutations read or refused\n", corpus.size(), mutations);
    return 0;
}
