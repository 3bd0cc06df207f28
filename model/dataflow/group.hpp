// A group of threads: the graph of what a body forks, placed once and run as often as one likes (KAAPI,
// section 3.5).
//
//     Group sweep(self, place, [&](GroupRecorder& recorder) {
//         for (...) self.fork<relax>(...);
//     });
//     sweep.run(1000);
//
// The result is that of the body called a thousand times. `place` says which worker runs each task, and in
// which order: a function of the recorded graph. Each of these workers gets a thread with its tasks, and with
// added ones that send and receive. Iterations follow each other without a barrier.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "model/dataflow/group_sites.hpp"
#include "model/dataflow/recording.hpp"

namespace heddle::dataflow {

/// Places the tasks of a recording on the workers of the run.
using Placer = std::function<GroupPlacing(const Recording& recording)>;

/// Lives in the body that makes it, as the objects do that its tasks use.
class Group {
public:
    /// Runs `body(recorder)` and records what it forks (Recording); the tasks of the present body end before.
    /// Throws Error for a body that cannot be recorded, and for a placing that is none.
    template <class Body>
    Group(Thread& self, const Placer& placer, const Body& body) : self_(self), recording_(self, body) {
        place(placer);
    }
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;
    /// The caller must have waited for what it has started.
    ~Group();

    const Recording& recording() const { return recording_; }
    const GroupPlacing& placing() const { return placing_; }

    /// Places the same graph in another way, for the runs that follow.
    void place(const Placer& placer);

    /// Runs all tasks `iterations` times, one iteration after the other in the reference order, and returns
    /// when the program's objects have their last values. The worker may be another one.
    void run(std::uint32_t iterations = 1) {
        start(iterations);
        wait();
    }

    /// The same in two steps: several groups with objects of their own run side by side. The tasks of the
    /// present body end before; until `wait` has returned it uses none of the group's objects.
    void start(std::uint32_t iterations = 1);
    void wait();

private:
    struct Run {
        Run(std::size_t objects, std::uint32_t ends) : home(objects, ends) {}
        GroupHome home;
        GroupName name;
    };

    Thread& self_;
    Recording recording_;
    GroupPlacing placing_;
    GroupPrograms programs_;
    std::optional<Run> run_;
};

}  // namespace heddle::dataflow
