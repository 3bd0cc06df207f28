// Knows the frames of a node's threads, and frees those that are left when the run is over.
#include "model/earth/earth_node.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/error.hpp"
#include "model/earth.hpp"

namespace heddle::model::earth {

namespace {

using Code = std::function<void(Em)>;

/// A task that calls a function of the program's, which the task owns.
const runtime::TaskType start_type(
    "earth.start",
    [](runtime::Worker& worker, runtime::Slot*, std::byte* payload) {
        const auto code = model::detail::take_from_payload<Code>(payload);
        (*code)(Em(worker, nullptr));
    },
    sizeof(Code*), 0, false,
    {.drop_arguments = [](std::byte* payload) { model::detail::take_from_payload<Code>(payload); },
     .end = runtime::TaskType::End::detached});

}  // namespace

void start(runtime::Node& node, runtime::Context& caller, std::function<void(Em)> code) {
    auto* const given = new std::function<void(Em)>(std::move(code));
    node.make_ready(caller, start_type, runtime::bytes_of(given));
}

EarthNode::~EarthNode() {
    for (const auto& [frame, destroy] : owners_) {
        frame->free_exclusive();
        if (destroy) destroy(*frame);
    }
}

void EarthNode::check() {
    checked_ = true;
    node_.watch_memory(*this);
}

std::shared_ptr<FramePool> EarthNode::make_pool() {
    const runtime::SpinLock::Guard guard(lock_);
    return pools_.emplace_back(std::make_shared<FramePool>(checked_));
}

void EarthNode::remember(Frame& frame, void (*destroy)(Frame&)) {
    const runtime::SpinLock::Guard guard(owners_lock_);
    auto& known = owners_[&frame];
    if (destroy) known = destroy;
}

void EarthNode::forget(Frame& frame) {
    {
        const runtime::SpinLock::Guard guard(owners_lock_);
        owners_.erase(&frame);
    }
    frame.free_exclusive();
}

void EarthNode::touched(const void* begin, std::size_t bytes) const {
    const runtime::SpinLock::Guard guard(lock_);
    for (const auto& pool : pools_) {
        if (const FunctionInfo* function = pool->find_freed(begin, bytes)) {
            throw Error(fmt::format("a reference into a frame of {} is used after its thread has terminated",
                                    function->name),
                        "let a thread terminate only when all that it gave references to is done");
        }
    }
}

std::uint64_t EarthNode::unterminated() const {
    const runtime::SpinLock::Guard guard(lock_);
    std::uint64_t made = 0, ended = 0;
    for (const auto& pool : pools_) {
        made += pool->allocated();
        ended += pool->released();
    }
    return made - ended;
}

}  // namespace heddle::model::earth
