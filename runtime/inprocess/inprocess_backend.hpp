// A backend for tests: all nodes in one thread, one step at a time, in an order drawn from a seed. Any worker
// or message may interrupt any operation, so some hundred seeds reach interleavings that threads rarely have.
// It simulates no cost: a step takes ten nanoseconds.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/backend.hpp"

namespace heddle::inprocess {

/// What a world may do by the contract (runtime/backend.hpp) and seldom does.
struct Faults {
    std::uint64_t delay_max = 0;      ///< a message is under way for up to so many steps, at least
    bool reorders = false;            ///< only messages of one context, with or without a body, stay in order
    std::uint32_t wakes_percent = 0;  ///< of the steps: a parked worker wakes without a reason
    /// So often, and no more: nodes whose workers wake more often than a search for work takes are never
    /// quiet.
    std::uint64_t wakes_max = 100'000;
};

/// A node joins or is asked to leave.
struct MemberEvent {
    Time at{};
    NodeId node = 0;
    bool joins = true;
};

struct Options {
    NodeId nodes = 1;
    CoreId cores = 1;
    std::uint64_t seed = 1;
    bool gate_open =
        false;  ///< true: workers are interrupted only where they wait, and the fast path is taken
    std::uint64_t stack_bytes = 1U << 20;
    std::vector<std::uint32_t> group = {};  ///< Topology::group; empty: all nodes in one group
    Faults faults{};
    std::shared_ptr<const NetworkRoutes> routes = {};  ///< Topology::routes
    std::optional<NodeId> at_start = {};               ///< Topology::at_start
    std::vector<MemberEvent> member_events = {};       ///< in the order of time
    bool receives = false;                             ///< Topology::receives
};

class InprocessBackend final : public runtime::Backend {
public:
    explicit InprocessBackend(const Options& options);
    ~InprocessBackend() override;

    const runtime::Topology& topology() const override;
    void run(const runtime::NodeFactory& make_node) override;
    Time now(const runtime::Context& context) const override;
    void pause(runtime::Context& context) override;
    void park(runtime::Context& context, Time deadline) override;
    void receive(runtime::Context& context, Time deadline, const std::function<bool()>& done) override;
    void unpark(runtime::Context& caller, CoreId core) override;
    void compute(runtime::Context& context, const runtime::Work& work,
                 const std::function<void()>& code) override;
    void send(runtime::Context& context, NodeId to, runtime::Bytes message, runtime::Enclosure enclosure = {},
              runtime::Path path = {}) override;
    bool poll(runtime::Context& context) override;
    void io(runtime::Context& caller, double bytes, std::function<void()> code,
            std::function<void(runtime::Context& context)> done) override;
    std::unique_ptr<runtime::MemoryView> make_view(NodeId node, const runtime::ViewOptions& options,
                                                   runtime::FaultHandler& handler) override;
    void start_nodes(runtime::Context& caller, NodeId count) override;
    Time elapsed() const override;

    /// The most bytes that were under way between nodes at any time.
    std::uint64_t most_under_way_bytes() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace heddle::inprocess
