// earth_lock: the use of a split-phase lock in the EARTH paper (Tremblay et al., section 2). Threads on all
// nodes add to one variable by split-phase reads and writes: a critical section of several fibers.
#include <cstdint>

#include "model/earth/library/lock.hpp"
#include "workloads/earth.hpp"

namespace heddle::workloads {

namespace {

using namespace model::earth;

class LockProgram final : public EarthProgram {
public:
    explicit LockProgram(const Settings& settings)
        : EarthProgram(settings),
          threads(settings.integer<std::uint32_t>("threads")),
          rounds(settings.integer("rounds")) {}

    void main(Em em) override;

    const std::uint32_t threads;
    const std::int64_t rounds;
};

struct AdderParameters {
    Lock lock;
    Global<std::int64_t> total;
    Sptr done;
};

struct Adder : Threaded<Adder, AdderParameters> {
    static constexpr auto name = "earth_lock_adder";

    std::int64_t seen;
    std::int64_t round;

    void init(Em em) {
        round = 0;
        lock_sync(em, lock, lock_obtained);
    }

    void read(Em em) { em.get_sync(total, seen, total_read); }
    Fiber<&Adder::read> lock_obtained{*this, 1};

    void write(Em em) {
        em.work();
        em.put_sync(seen + 1, total, total_written);
    }
    Fiber<&Adder::write> total_read{*this, 1};

    void release(Em em) {
        unlock(em, lock);
        if (++round < em.program<LockProgram>().rounds) return lock_sync(em, lock, lock_obtained);
        em.sync(done);
        em.terminate();
    }
    Fiber<&Adder::release> total_written{*this, 1};
};

struct AddersMain : Threaded<AddersMain> {
    static constexpr auto name = "earth_lock_main";

    Lock lock;
    std::int64_t total;

    void init(Em em) {
        total = 0;
        all_done.set(em.program<LockProgram>().threads, 0);
        init_lock(em, em.node_id(), em.to_global(lock), lock_made);
    }

    void begin(Em em) {
        for (std::uint32_t i = 0; i < em.program<LockProgram>().threads; ++i) {
            const NodeId node = i % em.num_nodes();
            em.invoke<Adder>(node, lock, em.to_global(total), em.to_sptr(all_done));
        }
    }
    Fiber<&AddersMain::begin> lock_made{*this, 1};

    void show(Em em) {
        em.program<EarthProgram>().answer_with({{"total", static_cast<double>(total)}});
        destroy(em, lock);
        em.terminate();
    }
    Fiber<&AddersMain::show> all_done{*this};
};

void LockProgram::main(Em em) {
    em.worker().node().expect_same_nodes("earth_lock deals its threads out over all nodes, and needs");
    em.invoke<AddersMain>(0);
}

class LockWorkload final : public EarthWorkload {
public:
    explicit LockWorkload(const Settings& settings) : settings_(settings) {}

    std::unique_ptr<runtime::Program> program(NodeId) const override {
        return std::make_unique<LockProgram>(settings_);
    }

    std::vector<const runtime::TaskType*> tasks() const override { return {}; }

protected:
    Verdict check_answer(const runtime::RunResult& result) const override {
        const auto additions = static_cast<double>(settings_.integer("threads")) *
                               static_cast<double>(settings_.integer("rounds"));
        return judge(result.answer, {{"total", additions}}, "one for each thread and round");
    }

private:
    Settings settings_;
};

const Registration registration{
    {"earth_lock", "threads of all nodes add to one variable under EARTH's split-phase lock",
     EarthProgram::settings(
         {{"threads", SettingKind::integer, "32", "threads, dealt round to the nodes", {}, 1, 1e6},
          {"rounds", SettingKind::integer, "10", "additions of each thread", {}, 1, 1e9}},
         "100f", "one addition"),
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<LockWorkload>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
