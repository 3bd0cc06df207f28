// One thread of a group: makes the closures of its program in each iteration, and runs them (KAAPI, section
// 3.5).
#pragma once

#include <memory>
#include <vector>

#include "model/dataflow/group_sites.hpp"

namespace heddle::dataflow {

class Site {
public:
    Site(const SiteStart& start, SiteProgram program, std::shared_ptr<GroupMailbox> mailbox);

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
    /// The arguments of a task that sends.
    struct Sending {
        Site* site;
        const SiteProgram::Step* step;
        std::uint32_t iteration;
    };

    bool happens(const SiteProgram::Step& step, std::uint32_t iteration) const;
    void make(Thread& thread, const SiteProgram::Step& step, std::uint32_t iteration);
    void make_task(Thread& thread, const SiteProgram::Step& step);
    void bind(Closure& closure, std::uint8_t i, std::uint32_t slot, Mode mode);
    void send(Thread& thread, const SiteProgram::Step& step, std::uint32_t iteration);
    static void run_send(Thread& thread, Closure& closure);
    static void run_copy(Thread& thread, Closure& closure);
    static void run_clear(Thread& thread, Closure& closure);

    SiteStart start_;
    SiteProgram program_;
    std::shared_ptr<GroupMailbox> mailbox_;
    std::vector<Added> added_;   ///< of each slot
    Object* objects_ = nullptr;  ///< of each slot
};

}  // namespace heddle::dataflow
