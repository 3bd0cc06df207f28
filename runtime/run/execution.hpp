// Runs one program on a backend, with the schedule's settings, and collects its answer, counters and times.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "runtime/backend.hpp"
#include "runtime/run/counters.hpp"
#include "runtime/run/member_list.hpp"
#include "runtime/run/program.hpp"
#include "runtime/run/schedule.hpp"
#include "runtime/run/sharing.hpp"

namespace heddle::runtime {

/// What happened in a run. Complete on node 0; on other processes `complete` is false and the rest is empty.
struct RunResult {
    bool complete = false;
    Answer answer;    ///< combined over the nodes
    Time makespan{};  ///< from the start to the end of the last task
    Counters total;
    std::vector<Counters> nodes;
    /// Where nodes join and leave: those that took part for a while only, by node.
    std::map<NodeId, Membership> members;
    std::map<std::pair<NodeId, NodeId>, std::uint64_t> steals;  ///< (thief, victim) -> tasks, victim != thief
    std::vector<ActivityTimes>
        workers;      ///< of the nodes in this process, core by core, from the start to the makespan
    Sharing sharing;  ///< of the shared memory, if the program has one, by node
    std::vector<Bytes> evidence;  ///< of each node: Program::evidence
};

/// Progress of a run, readable from any thread while it is on.
class Progress {
public:
    virtual ~Progress() = default;
    virtual std::uint64_t tasks() const = 0;
    virtual Time elapsed() const = 0;
};

class Execution final : public Progress {
public:
    /// `backend`, and what `make_program` refers to, must outlive the execution. Throws Error for an unknown
    /// policy. `recorder`, if any, is told of the run.
    Execution(Backend& backend, const Schedule& schedule, ProgramFactory make_program,
              Recorder* recorder = nullptr);
    ~Execution() override;

    /// Runs to the end. Called once. Throws Error where the world cannot be built or a node is lost.
    RunResult run();

    std::uint64_t tasks() const override;
    Time elapsed() const override;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace heddle::runtime
