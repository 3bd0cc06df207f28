// Runs one thread of a group (a recorded graph of tasks): in each iteration it makes the closures of its
// tasks and runs them (the KAAPI paper, section 3.5).
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "base/time.hpp"
#include "model/dataflow/group_sites.hpp"

namespace heddle::dataflow {

class Site {
public:
    Site(const SiteRun& run, std::shared_ptr<const SiteProgram> program,
         std::shared_ptr<GroupMailbox> mailbox);

    /// The body of its thread. Iterations follow each other without a wait for other threads, but for what
    /// their tasks read.
    void run(Thread& thread);

private:
    /// The types of the added tasks for one slot.
    struct Added {
        Formal read;
        Formal written;
        Formal both[2];
        ClosureType receive;
        ClosureType send;
        ClosureType copy;
        ClosureType clear;
    };
    /// A task whose time is measured, or which looks whether what it changes was written before.
    struct Watched {
        ClosureType type;  ///< first: closures name it
        const ClosureType* task;
        Time time{-1};
    };
    /// The arguments of a task that sends.
    struct Sending {
        Site* site;
        const SiteProgram::Step* step;
        std::uint32_t iteration;
    };

    bool happens(const SiteProgram::Step& step, std::uint32_t iteration) const;
    void make(Thread& thread, const SiteProgram::Step& step, std::uint32_t iteration);
    void make_task(Thread& thread, const SiteProgram::Step& step, std::uint32_t iteration);
    void bind(Closure& closure, std::uint8_t i, std::uint32_t slot, Mode mode);
    void send(Thread& thread, const SiteProgram::Step& step, std::uint32_t iteration);
    void keep(Thread& thread) const;
    void finish(Thread& thread, Time begin) const;
    const ClosureType& measured(const ClosureType& type);
    const ClosureType& expecting(const ClosureType& type);
    static Watched& watched(const Closure& closure);
    static void run_measured(Thread& thread, Closure& closure);
    static void run_expecting(Thread& thread, Closure& closure);
    static void run_send(Thread& thread, Closure& closure);
    static void run_copy(Thread& thread, Closure& closure);
    static void run_clear(Thread& thread, Closure& closure);

    SiteRun run_;
    std::shared_ptr<const SiteProgram> program_;
    std::shared_ptr<GroupMailbox> mailbox_;
    std::vector<Added> added_;      ///< of each slot
    Object* objects_ = nullptr;     ///< of each slot
    std::deque<Watched> measured_;  ///< of each task, in their order
    std::map<const ClosureType*, Watched> expecting_;
};

}  // namespace heddle::dataflow
