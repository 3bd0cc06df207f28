// Micro-benchmarks of shared memory: a fault, a change of access, a twin (the copy that finds changes) and a
// fetched page. The protocol is home-based lazy release consistency, because it makes each of them happen
// alone. A home's first write to a page after a barrier is a fault and a change of access. Its barrier
// changes the access of each page that it wrote. A first write to a copy makes a twin as well.
#include "calibration/probe.hpp"
#include "model/dsm/shared_memory.hpp"

namespace heddle::calibration {

namespace {

using runtime::Caller;
using runtime::Worker;

class PageProgram final : public ProbeProgram {
public:
    using ProbeProgram::ProbeProgram;

    void begin(Worker& worker) override {
        auto& memory = worker.node().state<dsm::SharedMemory>();
        const std::size_t bytes = page_bytes(worker);
        // The first half begins at node 0, which is its home.
        const auto array = memory.allocate<std::byte>("calibration", 2 * pages_most * bytes);
        // Each repetition uses new ones.
        const std::uint64_t fresh_pages = effort_.repetitions * (8 + pages_most);
        const auto fresh = memory.allocate<std::byte>("fresh", 2 * fresh_pages * bytes);
        std::uint64_t used = 0;
        const Caller caller(worker, worker.base());
        memory.seal(caller);
        // The first round meets pages and memory for the first time.
        for (std::uint32_t i = 0; i <= effort_.repetitions; ++i) {
            for (const std::uint64_t pages : {std::uint64_t{8}, pages_most}) {
                const bool counts = i > 0;
                // Node 1 gives its copies up.
                if (worker.id.node == 0) access(memory, caller, array, 0, pages, dsm::Access::write);
                memory.barrier(caller);
                if (worker.id.node == 0) {
                    // Node 1 comes to the next barrier meanwhile, and its message takes no time below.
                    worker.compute({1e-3 * worker.node().topology().core_speed, 0}, {});
                    time(worker, counts, "home_write", pages,
                         [&] { access(memory, caller, array, 0, pages, dsm::Access::write); });
                    if (counts)
                        time(worker, true, "first_write", pages,
                             [&] { access(memory, caller, fresh, used, pages, dsm::Access::write); });
                    if (counts) used += pages;
                    settle(worker);
                    const double begin = seconds_now(worker);
                    memory.barrier(caller);
                    // Of the fresh ones as well.
                    if (counts)
                        add({"home_barrier", 0, 2.0 * static_cast<double>(pages),
                             seconds_now(worker) - begin});
                } else {
                    memory.barrier(caller);
                    time(worker, counts, "fetch", pages,
                         [&] { access(memory, caller, array, 0, pages, dsm::Access::read); });
                    time(worker, counts, "copy_write", pages,
                         [&] { access(memory, caller, array, 0, pages, dsm::Access::write); });
                }
                memory.barrier(caller);
            }
        }
    }

private:
    static constexpr std::uint64_t pages_most = 64;

    static std::size_t page_bytes(const Worker& worker) { return worker.node().schedule().memory.page_bytes; }

    template <class Code>
    void time(Worker& worker, bool counts, const char* quantity, std::uint64_t pages, const Code& code) {
        settle(worker);
        const double begin = seconds_now(worker);
        code();
        const double seconds = seconds_now(worker) - begin;
        if (counts) add({quantity, 0, static_cast<double>(pages), seconds});
    }

    /// Reads or writes a byte of each page of some.
    void access(dsm::SharedMemory& memory, const Caller& caller, dsm::Shared<std::byte> array,
                std::uint64_t first, std::uint64_t pages, dsm::Access wanted) {
        const std::size_t bytes = page_bytes(caller.worker());
        for (std::uint64_t page = first; page < first + pages; ++page) {
            if (!memory.by_hardware()) {
                const bool reads = wanted == dsm::Access::read;
                (void)memory.touch(caller, {reads ? dsm::reading(array, page * bytes, 1)
                                                  : dsm::writing(array, page * bytes, 1)});
            }
            volatile std::byte* const at = memory.at(array) + page * bytes;
            if (wanted == dsm::Access::write) {
                *at = std::byte{static_cast<unsigned char>(++written_)};
            } else {
                written_ += static_cast<unsigned>(*at);
            }
        }
    }

    unsigned written_ = 0;
};

}  // namespace

Probe page_probe(const Effort& effort) {
    Probe probe{"pages",          "faults, access, twins and fetched pages of shared memory",        2, 1,
                quiet_schedule(), [effort](NodeId) { return std::make_unique<PageProgram>(effort); }};
    probe.schedule.memory.protocol = "home_lazy_release";
    probe.schedule.spin = never_sleeps;
    return probe;
}

}  // namespace heddle::calibration
