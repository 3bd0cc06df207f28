// A fuzz target for every graph format: the first byte of an input chooses the format, the rest is the file.
#include <array>

#include "graphs/kernel_costs.hpp"
#include "graphs/readers.hpp"
#include "tests/fuzz/target.hpp"

namespace {

using namespace heddle;
using namespace heddle::graphs;

using Read = void (*)(const SourceText&);

template <GraphFile (*read)(const SourceText&, const ReadOptions&)>
void task_graph(const SourceText& source) {
    const GraphFile file = read(source, {});
    // What is read is a graph: it has an order, and a graph of its data.
    (void)file.graph.topological_order().size();
    (void)file.data_graph();
}

template <DataGraph (*read)(const SourceText&)>
void data_graph(const SourceText& source) {
    (void)read(source).total_work();
}

constexpr std::array<Read, 10> readers = {
    task_graph<read_stg>,    task_graph<read_dot>,  task_graph<read_dax>,    task_graph<read_wfformat>,
    task_graph<read_hetero>, task_graph<read_tgff>, task_graph<read_heddle>, task_graph<read_heft_csv>,
    data_graph<read_metis>,  data_graph<read_mesh>};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const SourceText source{"fuzz", fuzz::text_of(data + 1, size - 1)};
    fuzz::read_or_refuse([&] { readers[static_cast<std::size_t>(data[0]) % readers.size()](source); });
    return 0;
}
