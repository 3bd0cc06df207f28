// neighbours: threads at the places of a ring, grid, torus or tree exchange messages with their neighbours,
// round after round. They are created where links are good, or dealt to the processes in turn.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fnv1a.hpp"
#include "base/memory_need.hpp"
#include "model/messaging.hpp"
#include "workloads/dispatcher_settings.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

namespace {

using messaging::Block;
using messaging::Handle;
using messaging::Mode;
using messaging::Talk;
using messaging::Thread;
using messaging::ThreadId;
using messaging::Topology;
using Place = Topology::Place;
using Shape = Topology::Shape;

constexpr messaging::Tag end_tag = 0;  ///< rounds are counted from 1

struct Exchange {
    std::uint32_t rounds = 0;
    std::uint64_t bytes = 0;  ///< of a message, 8 at least
};

struct Result {
    Place place = 0;
    std::uint64_t value = 0;
    std::uint64_t wrong = 0;  ///< messages whose last bytes are not those that were sent
};

/// The closest to a square: the first extent divides the places.
Shape box(Place places, bool closed) {
    Place rows = 1;
    for (Place i = 1; i * i <= places; ++i)
        if (places % i == 0) rows = i;
    return closed ? Shape::torus({rows, places / rows}) : Shape::grid({rows, places / rows});
}

Shape shape_of(const std::string& name, Place places) {
    if (name == "ring") return Shape::ring(places);
    if (name == "tree") return Shape::tree(places);
    return box(places, name == "torus");
}

/// A place's value after a round.
std::uint64_t next_value(std::uint64_t own, std::uint64_t sum_of_neighbours) {
    return own * 3 + sum_of_neighbours;
}

Block message_of(std::uint64_t value, std::uint64_t bytes) {
    auto block = std::make_shared<runtime::Bytes>(bytes);
    std::ranges::fill(*block, static_cast<std::byte>(value));
    std::memcpy(block->data(), &value, sizeof value);
    return block;
}

std::uint64_t value_of(const Block& block, std::uint64_t bytes, std::uint64_t& wrong) {
    std::uint64_t value = 0;
    std::memcpy(&value, block->data(), sizeof value);
    if (block->size() != bytes || (bytes > sizeof value && block->back() != static_cast<std::byte>(value)))
        ++wrong;
    return value;
}

void meet(Thread& self, Place place, Exchange exchange, ThreadId main) {
    const Topology topology("neighbours");
    topology.take(self, place);
    std::vector<ThreadId> neighbours;
    for (const Place other : topology.neighbours(self, place)) neighbours.push_back(topology.at(self, other));
    messaging::Barrier("all placed").wait(self);
    Result result{place, place + 1, 0};
    for (std::uint32_t round = 1; round <= exchange.rounds; ++round) {
        std::vector<Handle> sends;
        for (const ThreadId to : neighbours)
            sends.push_back(self.send_dma(to, round, message_of(result.value, exchange.bytes)));
        std::uint64_t sum = 0;
        for (const ThreadId from : neighbours) {
            Block block;
            Handle receive = self.recv_dma({.thread = from, .tag = round}, &block);
            self.test_handle(receive, Mode::blocking);
            sum += value_of(block, exchange.bytes, result.wrong);
        }
        for (Handle& send : sends) self.test_handle(send, Mode::blocking);
        result.value = next_value(result.value, sum);
    }
    self.send(main, end_tag, result);
}

double digest(const std::vector<std::uint64_t>& values) {
    Fnv1a hash;
    for (const std::uint64_t value : values) hash.add(value);
    return static_cast<double>(hash.value() >> 24);
}

struct NeighboursSettings {
    Shape shape;
    Exchange exchange;
    bool on_request = false;
    std::optional<messaging::DispatcherSettings> dispatcher;

    double messages() const {
        std::size_t sum = 0;
        for (const auto& neighbours : shape.neighbours) sum += neighbours.size();
        return static_cast<double>(sum) * exchange.rounds;
    }
};

class NeighboursProgram final : public messaging::MessagingProgram {
public:
    explicit NeighboursProgram(const NeighboursSettings& settings) : settings_(settings) {}

    /// All processes that there are at the beginning get threads.
    bool may_leave() const override { return false; }
    std::optional<messaging::DispatcherSettings> dispatcher() const override { return settings_.dispatcher; }
    runtime::Answer answer() const override { return answer_; }

    void main(Thread& self) override {
        const auto& neighbours = settings_.shape.neighbours;
        const Topology topology(self, "neighbours", settings_.shape);
        const Exchange exchange = settings_.exchange;
        const messaging::Barrier all_placed(self, "all placed",
                                            static_cast<std::uint32_t>(neighbours.size() + 1));
        const double rounds = exchange.rounds;
        const Talk talk = Talk::of(neighbours, rounds, rounds * static_cast<double>(exchange.bytes));
        std::vector<ThreadId> threads;
        if (settings_.on_request) {
            threads = self.create_together<meet>(
                talk, [&](Place place) { return std::tuple(place, exchange, self.id()); });
        } else {
            const auto processes = self.members();
            for (Place place = 0; place < neighbours.size(); ++place)
                threads.push_back(
                    self.create<meet>(processes[place % processes.size()], place, exchange, self.id()));
        }
        all_placed.wait(self);
        const double begin = seconds_of(self);
        std::vector<std::uint64_t> values(neighbours.size());
        std::uint64_t wrong = 0;
        for (std::size_t i = 0; i < threads.size(); ++i) {
            const auto result = self.receive<Result>({.tag = end_tag});
            values.at(result.place) = result.value;
            wrong += result.wrong;
        }
        std::vector<messaging::ProcessId> processes;
        for (const ThreadId thread : threads) processes.push_back(thread.process);
        double between = 0;
        for (const Talk::Pair& pair : talk.pairs)
            if (processes[pair.a] != processes[pair.b]) between += pair.messages;
        const auto links = messaging::links_of(self.worker().node().topology());
        answer_ = {{"threads", static_cast<double>(threads.size())},
                   {"messages", settings_.messages()},
                   {"between_processes", between},
                   {"link_seconds", messaging::seconds_between(talk, processes, links)},
                   {"wrong", static_cast<double>(wrong)},
                   {"digest", digest(values)},
                   {"seconds", seconds_of(self) - begin}};
    }

private:
    static double seconds_of(const Thread& self) {
        return to_seconds(self.worker().backend->now(self.worker()));
    }

    const NeighboursSettings& settings_;
    runtime::Answer answer_;
};

class NeighboursWorkload final : public Workload {
public:
    explicit NeighboursWorkload(const Settings& settings) {
        settings_.shape = shape_of(settings.text("shape"), settings.integer<std::uint64_t>("threads"));
        settings_.exchange = {settings.integer<std::uint32_t>("rounds"),
                              static_cast<std::uint64_t>(settings.number("bytes"))};
        settings_.on_request = settings.text("create") == "request";
        settings_.dispatcher = dispatcher_of(settings);
    }

    /// The threads, and so the messages, are dealt out over the processes.
    void prepare(const ClusterView& cluster, const runtime::Schedule& /*schedule*/) override {
        const double under_way = settings_.messages() / settings_.exchange.rounds;
        need_memory(2 * under_way * static_cast<double>(settings_.exchange.bytes) * cluster.share_here(),
                    fmt::format("{} messages of {} bytes under way", under_way, settings_.exchange.bytes),
                    "lower workload.threads or workload.bytes");
    }

    std::unique_ptr<runtime::Program> program(NodeId /*node*/) const override {
        return std::make_unique<NeighboursProgram>(settings_);
    }

    /// The same by one loop over all places.
    Verdict check(const runtime::RunResult& result) const override {
        const auto& neighbours = settings_.shape.neighbours;
        std::vector<std::uint64_t> values(neighbours.size());
        for (Place place = 0; place < values.size(); ++place) values[place] = place + 1;
        for (std::uint32_t round = 0; round < settings_.exchange.rounds; ++round) {
            const std::vector<std::uint64_t> before = values;
            for (Place place = 0; place < values.size(); ++place) {
                std::uint64_t sum = 0;
                for (const Place other : neighbours[place]) sum += before[other];
                values[place] = next_value(before[place], sum);
            }
        }
        return judge(result.answer, {{"wrong", 0}, {"digest", digest(values)}}, "one loop over all places");
    }

    std::vector<const runtime::TaskType*> tasks() const override { return {}; }

private:
    NeighboursSettings settings_;
};

const Registration registration{
    {"neighbours",
     "threads exchange messages with their neighbours, created where links are good or dealt out in turn",
     with_dispatcher(
         {{"shape",
           SettingKind::choice,
           "torus",
           "whose places threads take",
           {"ring", "grid", "torus", "tree"}},
          {"threads",
           SettingKind::integer,
           "64",
           "places of the shape; a grid or torus is as nearly square as its places can be",
           {},
           1,
           100'000},
          {"create",
           SettingKind::choice,
           "request",
           "request: where the links between neighbours are good; turn: dealt to the processes in turn",
           {"request", "turn"}},
          {"rounds", SettingKind::integer, "100", "each sends one message to each neighbour", {}, 1, 1e9},
          {"bytes", SettingKind::bytes, "10kB", "of a message, 8 at least", {}, 8, 1e9}}),
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<NeighboursWorkload>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
