// The life of a worker, from the beginning of its node to the end of the run.
#include <algorithm>
#include <boost/context/fiber.hpp>
#include <exception>

#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/run/members.hpp"
#include "runtime/run/program.hpp"

namespace heddle::runtime {

/// The run may have ended while tasks wait (Node::ended_early), or a task has failed and another has caught
/// its error.
void Worker::expect_run_goes_on() {
    if (failure_) [[unlikely]]
        std::rethrow_exception(failure_);
    if (!node_.stopping()) [[likely]]
        return;
    node_.settle(*this);
    throw RunEnded{};
}

/// It has been none: the run does not last until this worker has woken up. `before`: its times until then.
void Worker::drop_first_task(const TimeSheet& before) {
    const Time began = times.since();
    times = before;
    times.enter(undeclared_, began);
    --depth_;
    wait_began_ = backend->now(*this);
    enter(Activity::overhead, wait_began_);
}

/// A node that begins later than the run asks to join, and does nothing until it is a member. False: the run
/// was over.
bool Worker::join_run() {
    Members* const members = node_.members();
    if (!members || members->takes_part()) return true;
    if (id.core == 0) members->begin(outbox_);
    outbox_.flush();
    while (!members->takes_part()) {
        if (node_.stopping()) return false;
        poll();
        if (!members->takes_part() && !node_.stopping()) backend->park(*this, never);
    }
    return true;
}

void Worker::run_to_end() {
    const TimeSheet before = times;
    begin_task(1);
    program_.begin(*this);
    expect_joined(0);
    begins_nothing_ ? drop_first_task(before) : end_task();
    node_.end_activity(*this);
    while (!node_.stopping() && !failure_) run_something(base(), nullptr);
    if (node_.ended_early()) node_.count_ended(*this);
}

void Worker::run() {
    if (!join_run()) return;
    busy_ -= backend->now(*this);
    try {
        run_to_end();
    } catch (const RunEnded&) {
        // What was on this worker's stack has been unwound.
        loose_ = nullptr;
        depth_ = std::min(depth_, 1U);
        if (!idle()) end_task();
    } catch (const boost::context::detail::forced_unwind&) {
        throw;
    } catch (...) {
        // The first error may have caused the others.
        if (failure_) std::rethrow_exception(failure_);
        throw;
    }
    if (failure_) std::rethrow_exception(failure_);
    outbox_.flush();
    const Time end = backend->now(*this);
    busy_ += end;
    enter(Activity::idle, end);
}

}  // namespace heddle::runtime
