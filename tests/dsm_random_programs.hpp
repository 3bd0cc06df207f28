// For tests: a random program of loads, stores and barriers on shared memory. Strands and tasks of all nodes
// play it, and each notes what it read and when. Every read is compared with what a consistency model allows.
#pragma once

#include "tests/dsm_testing.hpp"

namespace heddle::testing_dsm {

using runtime::Event;

/// One load or store. `begin` and `end`: in an order that all players agree on.
struct Operation {
    std::uint64_t word = 0;
    std::uint64_t value = 0;
    bool store = false;
    int phase = 0;
    NodeId node = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

/// What reads may see.
enum class Model {
    sequential,  ///< the latest store
    barriers,    ///< what was stored before the last barrier, or a store of this phase
};

struct RandomSettings {
    std::uint64_t seed = 1;
    NodeId nodes = 3;
    CoreId cores = 2;
    std::uint64_t pages = 4;
    int phases = 3;
    int operations = 4;  ///< of each player in each phase
    std::uint64_t words_a_page = 2;
    Model model = Model::sequential;
};

/// What all nodes of one run write their operations to.
class Play {
public:
    explicit Play(const RandomSettings& drawn) : settings(drawn), logs_(drawn.nodes * drawn.cores * 2) {}

    std::uint64_t tick() { return now_.fetch_add(1, std::memory_order_seq_cst); }
    std::vector<Operation>& log(NodeId node, CoreId core, bool task) {
        return logs_[(node * settings.cores + core) * 2 + (task ? 1 : 0)];
    }
    std::vector<Operation> operations() const {
        std::vector<Operation> all;
        for (const auto& log : logs_) all.insert(all.end(), log.begin(), log.end());
        return all;
    }

    const RandomSettings settings;

private:
    std::atomic<std::uint64_t> now_{1};
    std::vector<std::vector<Operation>> logs_;
};

/// On one node. Each worker has a player that is a strand and one that is a task.
class RandomProgram final : public runtime::Program {
public:
    explicit RandomProgram(Play& play) : play_(play), missing_(phases()), come_(phases()), go_(phases()) {
        for (auto& missing : missing_) missing = 2 * static_cast<int>(play.settings.cores);
    }

    void begin(Worker& worker) override {
        const CoreId core = worker.id.core;
        if (core == 0) Strand::start(worker, [this](Strand& self) { lead(self); }, {"the leader", 0, false});
        Strand::start(worker, [this, core](Strand& self) { play(self, core, false); },
                      {"a player", core, false});
        play(Caller(worker, worker.base()), core, true);
    }
    runtime::Answer answer() const override { return {}; }

private:
    std::size_t phases() const { return static_cast<std::size_t>(play_.settings.phases) + 1; }

    void lead(Strand& self) {
        auto& memory = self.worker().node().state<SharedMemory>();
        words_a_page_ = memory.page_bytes() / sizeof(std::uint64_t);
        words_ = memory.allocate<std::uint64_t>("words", play_.settings.pages * words_a_page_);
        memory.seal(self);
        sealed_.complete(self.worker().node(), self.worker());
        for (std::size_t phase = 0; phase < phases(); ++phase) {
            self.wait(come_[phase]);
            memory.barrier(self);
            go_[phase].complete(self.worker().node(), self.worker());
        }
    }

    void play(const Caller& caller, CoreId core, bool task) {
        const NodeId node = caller.node().id();
        auto& log = play_.log(node, core, task);
        Random random = Random(play_.settings.seed).split(node).split(core * 2 + (task ? 1 : 0));
        caller.wait(sealed_);
        for (std::size_t phase = 0; phase < phases(); ++phase) {
            const bool last = phase + 1 == phases();
            if (last) {
                for (std::uint64_t word = 0; word < hot_words(); ++word)
                    access(caller, log, static_cast<int>(phase), {word}, false, 0);
            } else {
                for (int i = 0; i < play_.settings.operations; ++i) {
                    std::vector<std::uint64_t> words{random.below(hot_words())};
                    if (random.below(4) == 0) words.push_back(random.below(hot_words()));
                    const bool store = random.below(2) == 0;
                    if (store && play_.settings.model == Model::barriers)
                        for (std::uint64_t& word : words) word = own_word(word, phase, node);
                    access(caller, log, static_cast<int>(phase), words, store, random());
                }
            }
            if (missing_[phase].fetch_sub(1) == 1) come_[phase].complete(caller.node(), caller.worker());
            caller.wait(go_[phase]);
        }
    }

    std::uint64_t hot_words() const { return play_.settings.pages * play_.settings.words_a_page; }
    std::uint64_t place(std::uint64_t word) const {
        const std::uint64_t a_page = play_.settings.words_a_page;
        return word / a_page * words_a_page_ + word % a_page * 7;
    }

    /// Where barriers alone order stores, the nodes store different words between two of them, mostly of the
    /// same pages.
    std::uint64_t own_word(std::uint64_t word, std::uint64_t phase, NodeId node) const {
        while ((word + phase) % play_.settings.nodes != node) word = (word + 1) % hot_words();
        return word;
    }

    void access(const Caller& caller, std::vector<Operation>& log, int phase,
                const std::vector<std::uint64_t>& words, bool store, std::uint64_t value) {
        auto& memory = caller.node().state<SharedMemory>();
        std::uint64_t* const at = memory.at(words_);
        std::vector<dsm::Range> ranges;
        for (const std::uint64_t word : words)
            ranges.push_back(store ? writing(words_, place(word), 1) : reading(words_, place(word), 1));
        const auto operate = [&] {
            for (const std::uint64_t word : words) {
                Operation operation{word, value, store, phase, caller.node().id(), 0, 0};
                // Workers of a node may access a word at the same time.
                const std::atomic_ref<std::uint64_t> there(at[place(word)]);
                operation.begin = play_.tick();
                if (store) {
                    there.store(value, std::memory_order_relaxed);
                } else {
                    operation.value = there.load(std::memory_order_relaxed);
                }
                operation.end = play_.tick();
                log.push_back(operation);
                value += 1;
            }
        };
        if (memory.by_hardware()) return operate();
        const auto checkout = memory.touch(caller, ranges);
        operate();
    }

    Play& play_;
    Event sealed_;
    std::vector<std::atomic<int>> missing_;
    std::vector<Event> come_;
    std::vector<Event> go_;
    std::uint64_t words_a_page_ = 0;
    Shared<std::uint64_t> words_;
};

inline bool before(const Operation& a, const Operation& b) {
    return a.end < b.begin;
}

/// Why `load` may not see `store`, or nothing. `stores`: all to that word, with a first one of zero.
inline std::string refused(const Operation& load, const Operation& store,
                           const std::vector<Operation>& stores, Model model) {
    if (before(load, store)) return "it is later";
    for (const Operation& other : stores) {
        if (&other == &store) continue;
        const bool between = before(store, other) && before(other, load);
        if (model == Model::sequential) {
            if (between) return "another store came between";
            continue;
        }
        if (between && other.node == load.node && other.phase == load.phase)
            return "its own node has stored since";
        if (between && other.phase < load.phase && (other.phase > store.phase || other.node == store.node))
            return "another store came before the last barrier";
    }
    return {};
}

/// The first read that the model forbids, or nothing.
inline std::string check(const std::vector<Operation>& operations, Model model) {
    std::map<std::uint64_t, std::vector<Operation>> stores;
    for (const Operation& operation : operations) {
        auto& of_word = stores[operation.word];
        if (of_word.empty()) of_word.push_back({operation.word, 0, true, -1, ~NodeId{0}, 0, 0});
        if (operation.store) of_word.push_back(operation);
    }
    for (const Operation& load : operations) {
        if (load.store) continue;
        const auto& of_word = stores[load.word];
        const auto seen = std::find_if(of_word.begin(), of_word.end(),
                                       [&](const Operation& store) { return store.value == load.value; });
        const std::string why =
            seen == of_word.end() ? "it was never stored" : refused(load, *seen, of_word, model);
        if (!why.empty()) {
            return "node " + std::to_string(load.node) + " reads " + std::to_string(load.value) +
                   " at word " + std::to_string(load.word) + " in phase " + std::to_string(load.phase) +
                   ": " + why;
        }
    }
    return {};
}

/// Plays one program. Returns the first read that the model forbids, or nothing.
inline std::string play_random(const World& world, const runtime::Schedule& schedule,
                               const RandomSettings& settings) {
    Play play(settings);
    world.run(settings.nodes, settings.cores, schedule,
              [&](NodeId) { return std::make_unique<RandomProgram>(play); });
    return check(play.operations(), settings.model);
}

/// What a protocol promises.
struct Consistency {
    const char* protocol;
    Model model;
};

class RandomPrograms : public testing::TestWithParam<Consistency> {
protected:
    static runtime::Schedule schedule(std::uint64_t seed) {
        runtime::Schedule drawn;
        drawn.seed = seed;
        drawn.deque_slots = 1U << 10;
        drawn.memory.protocol = GetParam().protocol;
        Random random = Random(seed).split(11);
        drawn.memory.placement = static_cast<runtime::SharedPages::Placement>(random.below(3));
        drawn.memory.prefetch = static_cast<std::uint32_t>(random.below(3));
        const auto triggers = testing_dsm::triggers();
        drawn.memory.trigger = triggers[random.below(triggers.size())];
        return drawn;
    }
    static void play(const World& world, RandomSettings settings) {
        settings.model = GetParam().model;
        const std::string wrong = play_random(world, schedule(settings.seed), settings);
        ASSERT_EQ(wrong, "") << "seed " << settings.seed << " in " << world.name;
    }
};

inline std::vector<Consistency> consistencies() {
    return {{"write_invalidate", Model::sequential},
            {"migratory", Model::sequential},
            {"implicit_invalidate", Model::barriers},
            {"home_lazy_release", Model::barriers}};
}

}  // namespace heddle::testing_dsm
