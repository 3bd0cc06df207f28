// Messages between threads of the messaging model:
//
//     heddle_messaging latency|rate|bulk BYTES COUNT PAIRS [auto|block|poll|single] [memory|unix|tcp]
//     heddle_messaging inside BYTES COUNT
//
// The first ones between two processes, started as `heddle launch` starts them: latency: each pair sends a
// message to and fro by send_copy and recv_copy. rate: all pairs together send COUNT messages by send_copy,
// one after the other; bulk: by send_dma and recv_dma. inside: round trips between two threads on one worker.
#include <array>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "bench/native/outcome.hpp"
#include "bench/native/process_options.hpp"
#include "model/messaging.hpp"
#include "runtime/run/execution.hpp"

namespace {

using namespace heddle;
using namespace heddle::bench;
using namespace heddle::messaging;

enum class Kind : std::uint8_t { latency, rate, bulk, inside };

/// What each pair of threads does. Plain bytes, so it travels.
struct Task {
    Kind kind = Kind::latency;
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;  ///< messages of a pair, one way
    std::uint64_t pairs = 1;
};

void send(Thread& self, ThreadId to, const std::vector<char>& letter) {
    Handle handle = self.send_copy(to, 0, letter.data(), letter.size());
    self.test_handle(handle, Mode::blocking);
}

void receive(Thread& self, ThreadId from, std::vector<char>& letter) {
    Handle handle = self.recv_copy({.thread = from}, letter.data(), letter.size());
    self.test_handle(handle, Mode::blocking);
}

/// Large blocks, so many at a time.
constexpr std::size_t window = 8;

void stream(Thread& self, ThreadId to, const Task& task) {
    const std::vector<char> letter(task.bytes, 1);
    const auto block = std::make_shared<runtime::Bytes>(task.bytes, std::byte{1});
    std::array<Handle, window> handles;
    for (std::uint64_t i = 0; i < task.count; ++i) {
        if (task.kind == Kind::rate) {
            send(self, to, letter);
        } else {
            Handle& handle = handles[i % window];
            self.test_handle(handle, Mode::blocking);
            handle = self.send_dma(to, 0, block);
        }
    }
    for (Handle& handle : handles) self.test_handle(handle, Mode::blocking);
}

void take(Thread& self, ThreadId from, const Task& task) {
    std::vector<char> letter(task.bytes);
    std::array<Handle, window> handles;
    std::array<Block, window> blocks;
    for (std::uint64_t i = 0; i < task.count + window; ++i) {
        if (task.kind == Kind::rate) {
            if (i < task.count) receive(self, from, letter);
            continue;
        }
        Handle& handle = handles[i % window];
        Block& block = blocks[i % window];
        if (i >= window) {
            self.test_handle(handle, Mode::blocking);
            if (block->size() != task.bytes) throw std::runtime_error("a block of another size");
            block.reset();
        }
        if (i < task.count) handle = self.recv_dma({.thread = from}, &block);
    }
}

void answer(Thread& self, ThreadId partner, Task task) {
    std::vector<char> letter(task.bytes);
    self.send(partner, 0, true);  // it is here
    if (task.kind == Kind::latency || task.kind == Kind::inside) {
        for (std::uint64_t i = 0; i < task.count; ++i) {
            receive(self, partner, letter);
            send(self, partner, letter);
        }
    } else {
        take(self, partner, task);
        self.send(partner, 0, true);
    }
}

void ask(Thread& self, ThreadId main, Task task) {
    const ThreadId partner = self.create<answer>(self.processes() - 1, self.id(), task);
    std::vector<char> letter(task.bytes, 1);
    self.receive<bool>({.thread = partner});
    self.send(main, 0, true);
    self.receive<bool>({.thread = main});
    if (task.kind == Kind::latency || task.kind == Kind::inside) {
        for (std::uint64_t i = 0; i < task.count; ++i) {
            send(self, partner, letter);
            receive(self, partner, letter);
        }
    } else {
        stream(self, partner, task);
        self.receive<bool>({.thread = partner});
    }
    self.send(main, 0, true);
}

class Program final : public MessagingProgram {
public:
    explicit Program(const Task& task) : task_(task) {}

    void main(Thread& self) override {
        std::vector<ThreadId> askers;
        for (std::uint64_t i = 0; i < task_.pairs; ++i)
            askers.push_back(self.create<ask>(0, self.id(), task_));
        for (const ThreadId asker : askers) self.receive<bool>({.thread = asker});
        const double start = seconds_now();
        for (const ThreadId asker : askers) self.send(asker, 0, true);
        for (const ThreadId asker : askers) self.receive<bool>({.thread = asker});
        report(seconds_now() - start);
    }
    runtime::Answer answer() const override { return {}; }

private:
    void report(double seconds) const {
        const auto count = static_cast<double>(task_.count * task_.pairs);
        Outcome outcome;
        outcome.add("seconds", seconds)
            .add("one_way_us", seconds / (2 * count) * 1e6)
            .add("messages_per_second", count / seconds)
            .add("gigabytes_per_second", count * static_cast<double>(task_.bytes) / seconds / 1e9)
            .add("peak_mb", peak_mb())
            .print();
    }

    Task task_;
};

void run(const native::NativeOptions& options, const Task& task) {
    native::NativeBackend backend(options);
    runtime::Execution(backend, {}, [&](NodeId) { return std::make_unique<Program>(task); }).run();
}

Task task_of(int words, char** word) {
    const std::string_view kind = word[1];
    Task task;
    task.kind = kind == "inside" ? Kind::inside
                : kind == "rate" ? Kind::rate
                : kind == "bulk" ? Kind::bulk
                                 : Kind::latency;
    task.bytes = std::stoul(word[2]);
    task.pairs = words > 4 ? std::stoul(word[4]) : 1;
    task.count = std::stoul(word[3]) / task.pairs;
    return task;
}

}  // namespace

int main(int words, char** word) {
    if (words < 4 || words > 7) {
        std::fprintf(stderr,
                     "usage: %s latency|rate|bulk|inside BYTES COUNT [PAIRS [auto|block|poll|single "
                     "[memory|unix|tcp]]]\n",
                     word[0]);
        return 2;
    }
    try {
        const Task task = task_of(words, word);
        if (task.kind == Kind::inside) {
            native::NativeOptions options;
            options.cores = 1;
            run(options, task);
            return 0;
        }
        if (!native::membership_from_environment()) {
            native::LaunchOptions launch;
            launch.nodes = 2;
            launch.argv.assign(word, word + words);
            return native::launch_here(launch);
        }
        run(process_options(words > 5 ? word[5] : "auto", words > 6 ? word[6] : "memory"), task);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", word[0], error.what());
        return 1;
    }
    return 0;
}
