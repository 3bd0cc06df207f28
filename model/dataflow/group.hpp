// A group of threads: the graph of what a body forks, placed once and run as often as one likes (the KAAPI
// paper, section 3.5).
//
//     Group sweep(self, place, [&](GroupRecorder& recorder) {
//         for (...) self.fork<relax>(...);
//     });
//     sweep.run(1000);
//
// The result is that of the body called a thousand times. `place` says which worker runs each task, and in
// which order: a function of the recorded graph. Each of these workers gets a thread with its tasks, and with
// added ones that send and receive. Iterations follow each other without a barrier.
//
// Between runs each object stays on the node that wrote it last, its owner. It comes home when the body uses
// it (lending.hpp), and when the group ends.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "model/dataflow/group_sites.hpp"
#include "model/dataflow/lending.hpp"
#include "model/dataflow/recording.hpp"

namespace heddle::dataflow {

/// Places the tasks of a recording on the workers of the run.
using Placer = std::function<GroupPlacing(const Recording& recording)>;

/// Which nodes run a group's body to record its graph.
enum class Recorded : std::uint8_t {
    once,        ///< the one that makes the group: it sends the others their parts
    everywhere,  ///< each. Node 0 makes it in `main`, and the others in DataflowProgram::elsewhere, all with
                 ///< the same placings and runs; node 0 has the objects' values. Nothing is sent before the
                 ///< first run but these values. Node 0 compares the graphs and placings.
};

/// Lives in the body that makes it, as the objects do that its tasks use.
class Group {
public:
    /// Runs `body(recorder)` and records what it forks (Recording); the tasks of the present body end before.
    /// Throws Error for a body that cannot be recorded, and for a placing that is none.
    template <class Body>
    Group(Thread& self, const Placer& placer, const Body& body, Recorded recorded = Recorded::once)
        : self_(self),
          everywhere_(recorded == Recorded::everywhere),
          elsewhere_(everywhere_ && self.worker().node().id() != 0),
          recording_(self, body, elsewhere_) {
        begin(placer);
    }
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;
    /// Waits for what it has started, and brings the objects home, unless it is unwound.
    ~Group() noexcept(false);

    const Recording& recording() const { return recording_; }
    const GroupPlacing& placing() const { return placing_; }

    /// Places the same graph in another way, for the runs that follow. The next one moves the objects whose
    /// owner changes. After an Error the placing before is in force.
    void place(const Placer& placer);

    /// Runs all tasks `iterations` times, one iteration after the other in the reference order, and returns
    /// when they have ended. The worker may be another one.
    void run(std::uint32_t iterations = 1) {
        start(iterations);
        wait();
    }

    /// The same in two steps, so that several groups run side by side. The tasks of the present body end
    /// before, and so do groups of it that write what this one uses, or use what it writes.
    void start(std::uint32_t iterations = 1);
    void wait();

    /// The first iteration of the next run measures what each task takes. A placer finds it in the recording
    /// (Recording::measured). Throws Error for a group that each node records.
    void measure();

    /// Brings the values of all its objects home, at once.
    void home();

    /// Of the last run: how long its threads took, the longest of them.
    Time run_time() const { return run_time_; }
    /// Objects that have gone from one owner to another, between all runs.
    std::uint64_t moved() const { return moved_; }

    // --- for Lending
    bool uses(const Access& root) const { return recording_.find(root) != Recording::none; }
    bool writes(const Access& root) const {
        const std::uint32_t object = recording_.find(root);
        return object != Recording::none && programs_.owner[object] != GroupPrograms::nowhere;
    }
    bool conflicts(const Group& other) const;

private:
    using Runs = std::map<NodeId, NodeRun>;

    struct Running {
        GroupQuestion question;
        std::shared_ptr<GroupAnswers> answers;
        std::uint32_t iterations;
        /// Values of objects that it only reads, on nodes that had none.
        std::vector<std::pair<std::uint32_t, NodeId>> copies{};
    };

    void begin(const Placer& placer);
    void begin_elsewhere(std::uint32_t iterations);
    void start_threads(Runs& runs, std::uint32_t iterations);
    void install_programs();
    void tell_runs(std::uint32_t iterations);
    void call_all_in();
    NodeRun run_of(std::uint32_t iterations) const;
    void give_values(Runs& runs, Running& running);
    void give_value(std::uint32_t object, Runs& runs, Running& running);
    void add_move(const Lending::Holder& holder, GroupMove move, Runs& runs);
    void send_from_home(std::uint32_t object, std::span<const Target> to);
    void read_reports();
    void read_times(WorkerId site, runtime::Reader& report, std::vector<Recording::Measured>& times) const;
    void lend_objects(const Running& ended);
    ValueName value_of(std::uint32_t object) const { return {name_, object, run_}; }
    GroupSites& sites() const { return self_.worker().node().state<GroupSites>(); }

    Thread& self_;
    int exceptions_ = std::uncaught_exceptions();
    bool everywhere_;
    bool elsewhere_;  ///< another node has the objects' values
    Recording recording_;
    GroupPlacing placing_;
    GroupPrograms programs_;
    GroupName name_;
    std::uint32_t placings_ = 0;
    std::uint32_t digest_ = 0;                     ///< GroupValue
    bool told_ = true;                             ///< node 0 gets, or has, what is compared of the placing
    std::uint32_t run_ = 0;                        ///< the number of the next or present one
    std::uint32_t iteration_ = 0;                  ///< with which it begins
    std::map<NodeId, std::uint32_t> has_placing_;  ///< nodes that have programs
    std::optional<Running> running_;
    Time run_time_{};
    std::uint64_t moved_ = 0;
    bool measures_ = false;
};

}  // namespace heddle::dataflow
