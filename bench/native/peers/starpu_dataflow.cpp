// Measures empty StarPU tasks, each of which reads one object and changes the one before. Arguments: COUNT
// OBJECTS WORKERS. StarPU's starpu_task_insert finds the dependencies from the order of the calls.
#include <starpu.h>

#include <string>
#include <vector>

#include "bench/native/kept_memory.hpp"
#include "bench/native/outcome.hpp"

namespace {

void increase(void* buffers[], void* /*argument*/) {
    ++*reinterpret_cast<long*>(STARPU_VARIABLE_GET_PTR(buffers[1]));
}

}  // namespace

int main(int count, char** words) {
    using namespace heddle::bench;
    if (count != 4) {
        std::fprintf(stderr, "usage: peer_starpu_dataflow COUNT OBJECTS WORKERS\n");
        return 2;
    }
    keep_freed_memory();
    const long tasks = std::stol(words[1]);
    const auto objects = static_cast<std::size_t>(std::stoul(words[2]));
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncpus = std::stoi(words[3]);
    conf.ncuda = conf.nopencl = 0;
    if (starpu_init(&conf) != 0) return 1;
    starpu_codelet codelet;
    starpu_codelet_init(&codelet);
    codelet.cpu_funcs[0] = increase;
    codelet.nbuffers = 2;
    codelet.modes[0] = STARPU_R;
    codelet.modes[1] = STARPU_RW;
    std::vector<long> values(objects, 0);
    std::vector<starpu_data_handle_t> handles(objects);
    for (std::size_t i = 0; i < objects; ++i)
        starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM, reinterpret_cast<uintptr_t>(&values[i]),
                                      sizeof(long));
    const double begin = seconds_now();
    const double cpu_begin = cpu_seconds();
    for (std::size_t i = 0, task = 0; task < static_cast<std::size_t>(tasks); ++task) {
        const std::size_t next = i + 1 == objects ? 0 : i + 1;
        starpu_task_insert(&codelet, STARPU_R, handles[next], STARPU_RW, handles[i], 0);
        i = next;
    }
    starpu_task_wait_for_all();
    const double seconds = seconds_now() - begin;
    const double cpu = cpu_seconds() - cpu_begin;
    for (starpu_data_handle_t handle : handles) starpu_data_unregister(handle);
    starpu_shutdown();
    double sum = 0;
    for (const long value : values) sum += static_cast<double>(value);
    Outcome()
        .add("seconds", seconds)
        .add("cpu_seconds", cpu)
        .add("value", sum)
        .add("peak_mb", peak_mb())
        .print();
}
