// Chooses a trace format by the end of a file's name.
#include "results/trace_format.hpp"

#include <fmt/format.h>

#include <string_view>

#include "base/error.hpp"
#include "results/paje_trace.hpp"
#include "results/perfetto_trace.hpp"

namespace heddle::results {

namespace {

constexpr std::string_view compressed_ending = ".gz";

}  // namespace

bool is_compressed(const std::string& path) {
    return path.ends_with(compressed_ending);
}

std::string show_worker(WorkerId worker) {
    if (worker.core == TaskNote::nowhere) return fmt::format("node {}", worker.node);
    return fmt::format("node {} worker {}", worker.node, worker.core);
}

std::unique_ptr<TraceFormat> make_trace_format(const std::string& path, TraceSink& sink) {
    std::string_view name = path;
    if (is_compressed(path)) name.remove_suffix(compressed_ending.size());
    if (name.ends_with(".pftrace")) return std::make_unique<PerfettoTrace>(sink);
    if (name.ends_with(".paje") || name.ends_with(".trace")) return std::make_unique<PajeTrace>(sink);
    throw Error(
        fmt::format("no trace format is known by the end of the name {}", path),
        "name it *.pftrace (for Perfetto), *.paje or *.trace (for Paje viewers), and add .gz to compress it");
}

}  // namespace heddle::results
