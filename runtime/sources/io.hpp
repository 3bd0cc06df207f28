// Input and output: code that blocks runs beside the workers of a node, and strands and tasks wait for it as
// for anything else.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/core/caller.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/spin_lock.hpp"
#include "runtime/core/states.hpp"
#include "runtime/core/wait.hpp"
#include "runtime/sources/work_source.hpp"

namespace heddle::runtime {

/// `node.state<IoCalls>()`. The run does not end before all calls have ended.
class IoCalls final : public State<Node>, public WorkSource {
public:
    explicit IoCalls(Node& node) : node_(node) { node.sources().add(*this); }

    /// Runs `code`, which throws nothing, as Backend::io does. A worker completes `event` when it has ended.
    /// Both must live until then.
    void start(Context& caller, double bytes, std::function<void()> code, Event& event);

    /// For what any thread may end: the run does not end before `ended`, or `cancel`.
    void begin();
    void cancel();
    /// A worker completes `event`. `after`: may unpark only.
    void ended(Context& after, Event& event);

    bool waits_for(const Worker& /*worker*/) const override {
        return ended_count_.load(std::memory_order_seq_cst) != 0;
    }
    bool run(Worker& worker, Slot* head) override;

private:
    Node& node_;
    SpinLock lock_;  ///< over `ended_`
    std::vector<Event*> ended_;
    std::atomic<std::uint32_t> ended_count_{0};
};

/// Calls `code`, which may block for long, and returns what it returns, or throws what it throws. The
/// caller's worker does other work meanwhile. `bytes`: how many the node's disk reads or writes for it, 0 or
/// more. Natively that does not matter. In simulation `code` runs at once, and the disk takes the time that
/// the platform says; calls wait for it one after the other.
template <class Code>
auto io(Caller caller, double bytes, Code&& code) {
    using Result = std::invoke_result_t<Code&>;
    struct Call final : Event {
        std::string what() const override { return "input or output"; }
    };
    std::conditional_t<std::is_void_v<Result>, bool, std::optional<Result>> result{};
    std::exception_ptr failure;
    Call call;
    const auto run = [&] {
        try {
            if constexpr (std::is_void_v<Result>) {
                code();
            } else {
                result.emplace(code());
            }
        } catch (...) {
            failure = std::current_exception();
        }
    };
    caller.node().template state<IoCalls>().start(caller.worker(), bytes, run, call);
    caller.wait(call);
    // Now, so that the makespan has the call: the run may end while others are under way.
    Counters& counters = caller.worker().counters();
    ++counters.disk_calls;
    counters.disk_bytes += bytes;
    if (failure) std::rethrow_exception(failure);
    if constexpr (!std::is_void_v<Result>) return std::move(*result);
}

}  // namespace heddle::runtime
