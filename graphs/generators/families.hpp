// Declares every graph generator, for the factory that makes them by name.
#pragma once

#include "graphs/generators/generator.hpp"

namespace heddle::graphs {

Generator cholesky_generator();
Generator lu_generator();
Generator fft_generator();
Generator stencil_1d_generator();
Generator stencil_2d_generator();
Generator fork_join_generator();
Generator in_tree_generator();
Generator out_tree_generator();
Generator series_parallel_generator();
Generator layered_generator();
Generator task_bench_generator();
Generator all_to_all_generator();
Generator incast_generator();
Generator ping_pong_generator();
Generator topcuoglu_generator();

}  // namespace heddle::graphs
