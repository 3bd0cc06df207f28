// Measures read faults on pages that another process has written. Arguments: COUNT [auto|block|poll|single]
// [memory|unix|tcp]. Node 1 writes its pages, then node 0 reads each of them once, again and again. The last
// two arguments say how receivers wait (`transport.receive`; `single`: `schedule.modules`), and what connects
// the processes (`transport.local`). Prints the nanoseconds of a read.
#include <memory>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "bench/native/outcome.hpp"
#include "bench/native/process_options.hpp"
#include "model/dsm/shared_memory.hpp"
#include "runtime/native/launch.hpp"
#include "runtime/run/execution.hpp"

namespace {

using namespace heddle;
using namespace heddle::bench;
using runtime::Strand;

constexpr std::uint64_t pages = 256;
constexpr std::uint64_t words_of_page = 4096 / sizeof(std::uint64_t);

class RemoteFaults final : public runtime::Program {
public:
    explicit RemoteFaults(std::uint64_t rounds) : rounds_(rounds) {}

    void begin(runtime::Worker& worker) override {
        Strand::start(worker, [this](Strand& self) { take_turns(self); });
    }
    runtime::Answer answer() const override { return {}; }

private:
    void take_turns(Strand& self) {
        auto& memory = self.worker().node().state<dsm::SharedMemory>();
        // The first half has its home on node 0.
        const auto words = memory.allocate<std::uint64_t>("words", 2 * pages * words_of_page);
        memory.seal(self);
        std::uint64_t* const at = memory.at(words) + pages * words_of_page;
        const bool reads = self.worker().id.node == 0;
        double seconds = 0;
        std::uint64_t wrong = 0;
        for (std::uint64_t round = 0; round < rounds_; ++round) {
            if (!reads)
                for (std::uint64_t page = 0; page < pages; ++page) at[page * words_of_page] = round;
            memory.barrier(self);
            const double begin = seconds_now();
            if (reads)
                for (std::uint64_t page = 0; page < pages; ++page) wrong += at[page * words_of_page] != round;
            // The first round warms up.
            if (round != 0) seconds += seconds_now() - begin;
            memory.barrier(self);
        }
        if (!reads) return;
        if (wrong != 0) throw Error("a page came with other contents than were written");
        Outcome().add("ns", seconds / static_cast<double>((rounds_ - 1) * pages) * 1e9).print();
    }

    std::uint64_t rounds_;
};

void run_node(std::uint64_t count, std::string_view how, std::string_view local) {
    native::NativeBackend backend(process_options(how, local));
    runtime::Schedule schedule;
    schedule.stealing.victim = "none";
    runtime::Execution(backend, schedule, [&](NodeId) {
        return std::make_unique<RemoteFaults>(count / pages + 2);
    }).run();
}

}  // namespace

int main(int count, char** words) {
    if (count < 2 || count > 4) {
        std::fprintf(stderr,
                     "usage: heddle_remote_faults COUNT [auto|block|poll|single] [memory|unix|tcp]\n");
        return 2;
    }
    try {
        if (!native::membership_from_environment()) {
            native::LaunchOptions launch;
            launch.nodes = 2;
            launch.argv.assign(words, words + count);
            return native::launch_here(launch);
        }
        run_node(std::stoull(words[1]), count > 2 ? words[2] : "auto", count > 3 ? words[3] : "memory");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", words[0], error.what());
        return 1;
    }
    return 0;
}
