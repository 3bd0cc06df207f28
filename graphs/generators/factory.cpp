// Lists all graph generators by name, and makes the one that a caller names.
#include "graphs/generators/families.hpp"

namespace heddle::graphs {

const std::vector<Generator>& generators() {
    static const std::vector<Generator> all = {
        cholesky_generator(),        lu_generator(),        fft_generator(),        stencil_1d_generator(),
        stencil_2d_generator(),      fork_join_generator(), in_tree_generator(),    out_tree_generator(),
        series_parallel_generator(), layered_generator(),   task_bench_generator(), all_to_all_generator(),
        incast_generator(),          ping_pong_generator(), topcuoglu_generator(),
    };
    return all;
}

const Generator& generator_named(const std::string& name) {
    std::vector<std::string> names;
    for (const Generator& generator : generators()) {
        if (generator.name == name) return generator;
        names.push_back(generator.name);
    }
    throw Error("unknown generator \"" + name + "\"", nearest_advice(name, names));
}

GraphFile generate(const std::string& name,
                   const std::vector<std::pair<std::string, std::string>>& settings) {
    const Generator& generator = generator_named(name);
    Settings values(generator.settings());
    for (const auto& [key, value] : settings) values.set(key, value);
    return generator.make(values);
}

}  // namespace heddle::graphs
