// Tests how a graph is named in one word: files by path, generators by name and settings, and the errors for
// bad words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "graphs/generators/generator.hpp"
#include "graphs/graph_source.hpp"

namespace heddle::graphs {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string error_of(const std::string& source, const ReadOptions& options = {}) {
    try {
        load_graph(source, options);
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

std::string written(const std::string& name, const std::string& text) {
    std::string path = testing::TempDir() + "graph_source_" + std::to_string(getpid()) + "_" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
}

TEST(GraphSource, AGeneratorAloneHasItsDeclaredSettings) {
    const GraphFile graph = load_graph("cholesky");
    EXPECT_EQ(graph.graph.tasks(), generate("cholesky").graph.tasks());
    EXPECT_EQ(graph.graph.tasks(), 220U);  // 10 tiles a row: n (n + 1) (n + 2) / 6
}

TEST(GraphSource, SettingsStandBehindAColon) {
    EXPECT_EQ(load_graph("cholesky:tiles=20,tile_size=64").graph.tasks(), 1540U);
    EXPECT_EQ(load_graph("cholesky: tiles = 20, tile_size = 64 ").graph.tasks(), 1540U);
    const GraphFile layered = load_graph("layered:tasks=50,bytes=4kB,spread=0");
    ASSERT_EQ(layered.graph.tasks(), 50U);
    EXPECT_EQ(layered.graph.predecessors(49).front().bytes, 4000);
}

TEST(GraphSource, AFileIsReadWithItsOptions) {
    const std::string path = written("two.stg", "2\n0 0 0\n1 5 1 0\n2 6 1 1\n3 0 1 2\n");
    EXPECT_EQ(load_graph(path).graph.total_work(), 11);
    EXPECT_EQ(load_graph(path, {.format = {}, .flops_per_time_unit = 10}).graph.total_work(), 110);
    EXPECT_THAT(error_of(path, {.format = Format::dax}), HasSubstr(path));
    std::filesystem::remove(path);
}

TEST(GraphSource, AFileCalledLikeAGeneratorIsWrittenWithItsFolder) {
    EXPECT_TRUE(names_generator("fft"));
    EXPECT_TRUE(names_generator("fft:points=4"));
    EXPECT_FALSE(names_generator("./fft"));
    EXPECT_FALSE(names_generator("fft.stg"));
    EXPECT_FALSE(names_generator(""));
}

TEST(GraphSource, ForPartitioningEverythingIsAGraphOfData) {
    const std::string path = written("path.graph", "3 2\n2\n1 3\n2\n");
    EXPECT_EQ(load_data_graph(path).data(), 3U);
    EXPECT_EQ(load_data_graph("cholesky:tiles=4").data(), 16U);
    EXPECT_THAT(error_of(path), HasSubstr("undirected"));
    std::filesystem::remove(path);
}

TEST(GraphSource, MistakesAreRefusedWithTheNearestNames) {
    EXPECT_THAT(error_of("cholesk:tiles=20"),
                AllOf(HasSubstr("no file `cholesk:tiles=20`"), HasSubstr("did you mean \"cholesky\"?")));
    EXPECT_THAT(error_of("no_such/file.stg"), HasSubstr("no_such/file.stg: cannot be read (No such file"));
    EXPECT_THAT(error_of("no_such/file"), HasSubstr("no_such/file: cannot be read (No such file"));
    EXPECT_THAT(error_of("/dev"), HasSubstr("/dev: is a directory; name a file"));
    EXPECT_THAT(error_of("/dev/null"), HasSubstr("/dev/null: nothing in it; is it the right file?"));
    EXPECT_THAT(error_of(""), HasSubstr("no file ``"));
    EXPECT_THAT(error_of("cholesky:tile=20"),
                AllOf(HasSubstr("cholesky:tile=20: unknown key \"tile\""), HasSubstr("tiles")));
    EXPECT_THAT(error_of("cholesky:tiles=many"), HasSubstr("expected a whole number, found `many`"));
    EXPECT_THAT(error_of("cholesky:tiles=0"),
                HasSubstr("cholesky:tiles=0: tiles: 0 is out of range; expected 1 to 2000"));
    EXPECT_THAT(error_of("cholesky:tiles=1,tiles=2"), HasSubstr("tiles is stated twice"));
    for (const char* incomplete :
         {"cholesky:", "cholesky:tiles", "cholesky:=4", "cholesky:tiles=4,", "cholesky:,tiles=4"}) {
        EXPECT_THAT(error_of(incomplete), HasSubstr("expected KEY=VALUE")) << incomplete;
    }
    EXPECT_THAT(error_of("fft:points=12"), HasSubstr("not a power of 2"));
}

TEST(GraphSource, OptionsOfFilesDoNotFitAGenerator) {
    EXPECT_THAT(error_of("fft", {.format = Format::stg}), HasSubstr("generated"));
    EXPECT_THAT(error_of("fft", {.format = {}, .flops_per_time_unit = 2}), HasSubstr("generated"));
    EXPECT_THAT(error_of("fft", {.format = {}, .flops_per_time_unit = 1, .bytes_per_weight_unit = 2}),
                HasSubstr("generated"));
}

}  // namespace
}  // namespace heddle::graphs
