// EARTH: threaded functions and fibers (Tremblay, Morrone, Amaral, Gao: "Implementation of the EARTH
// programming model on SMP clusters: a multi-threaded language and runtime system", section 2). A threaded
// function is a struct: its parameters, its variables, an initialization fiber, and fibers with their sync
// slots.
//
//     struct FibParameters {
//         int n;
//         Global<int> result;
//         Sptr done;
//     };
//     struct Fib : Threaded<Fib, FibParameters> {
//         int r1, r2;
//
//         void init(Em em) {
//             if (n <= 1) {
//                 em.put_sync(1, result, done);
//                 em.terminate();
//             } else {
//                 em.token<Fib>(n - 1, em.to_global(r1), em.to_sptr(ready));
//                 em.token<Fib>(n - 2, em.to_global(r2), em.to_sptr(ready));
//             }
//         }
//
//         void add(Em em) {
//             em.put_sync(r1 + r2, result, done);
//             em.terminate();
//         }
//         Fiber<&Fib::add> ready{*this, 2};
//     };
//
// An activation is made on a worker (`token`: any; `invoke`: of a node) and lives until one of its fibers
// terminates it. Fibers never block: what takes long is split, and a slot is signalled when it is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "model/earth/directory.hpp"
#include "model/earth/earth_node.hpp"
#include "model/earth/fiber.hpp"
#include "model/earth/mailbox.hpp"
#include "model/earth/threaded.hpp"
#include "runtime/run/program.hpp"

namespace heddle::model::earth {

/// An execution module, which runs a fiber: what the fiber asks of the world. Pass it by value; of no use
/// after the fiber.
class Em {
public:
    Em(runtime::Worker& worker, Frame* thread) : worker_(&worker), thread_(thread) {}

    /// NODE_ID and NUM_NODES.
    NodeId node_id() const { return worker_->id.node; }
    NodeId num_nodes() const { return worker_->node().topology().nodes; }

    // --- threads
    /// TOKEN: a new activation of F, on whichever worker of whichever node takes it.
    template <class F, class... Given>
    void token(Given&&... parameters) const {
        worker_->detach(Activation<F>::token, [&](std::byte* payload) {
            ::new (static_cast<void*>(payload)) typename F::Parameters{std::forward<Given>(parameters)...};
        });
    }

    /// INVOKE: a new activation of F on a node.
    template <class F, class... Given>
    void invoke(NodeId node, Given&&... parameters) const {
        if (node == node_id()) {
            worker_->detach(Activation<F>::invocation, [&](std::byte* payload) {
                ::new (static_cast<void*>(payload))
                    typename F::Parameters{std::forward<Given>(parameters)...};
            });
            return;
        }
        static_assert(Activation<F>::travels, "parameters that hold addresses cannot go to another node");
        const typename F::Parameters made{std::forward<Given>(parameters)...};
        invoke_elsewhere(node, Activation<F>::invocation, std::as_bytes(std::span(&made, 1)));
    }

    /// TERMINATE: this thread ends with this fiber, which then should return. None of its other fibers may be
    /// scheduled: it is an Error when one begins. One that still runs may run to its end.
    void terminate() const { thread_->terminate(); }

    // --- references
    /// TO_GLOBAL: a variable of this node, for every node.
    template <class T>
    Global<T> to_global(T& variable) const {
        return {node_id(), &variable};
    }
    /// TO_SPTR.
    Sptr to_sptr(runtime::SyncSlot& slot) const { return {node_id(), &slot}; }

    /// A slot as an argument: one of this node may be given itself.
    struct SlotArgument {
        // NOLINTBEGIN(google-explicit-constructor)
        SlotArgument(Sptr anywhere) : reference(anywhere), here(nullptr) {}
        SlotArgument(runtime::SyncSlot& local) : here(&local) {}
        // NOLINTEND(google-explicit-constructor)

        Sptr reference;
        runtime::SyncSlot* here;
    };
    Sptr to_sptr(const SlotArgument& slot) const { return slot.here ? to_sptr(*slot.here) : slot.reference; }

    // --- signals and data. All return at once. `slot`: signalled when it is done.

    /// SYNC: one signal.
    void sync(SlotArgument slot) const {
        if (!slot.here && slot.reference.node == node_id()) slot.here = &slot.reference.on(node_id());
        if (!slot.here) return runtime::signal(*worker_, slot.reference);
        if (checked()) touch(slot.here, sizeof *slot.here);
        slot.here->signal(worker_->node(), *worker_);
    }

    /// PUT_SYNC: writes a value to `target`.
    template <class T>
    void put_sync(const std::type_identity_t<T>& value, Global<T> target, SlotArgument slot) const {
        static_assert(std::is_trivially_copyable_v<T>);
        if (target.node != node_id()) return runtime::put(*worker_, value, target, to_sptr(slot));
        if (checked()) touch(&target.on(node_id()), sizeof(T));
        target.on(node_id()) = value;
        sync(slot);
    }
    /// The same for an argument of a fiber.
    template <class T>
    void put_sync(const std::type_identity_t<T>& value, const Input<T>& input) const {
        put_sync(value, input.value, input.slot);
    }

    /// GET_SYNC: reads a value at `source` into `target`.
    template <class T>
    void get_sync(Global<T> source, Global<std::type_identity_t<T>> target, SlotArgument slot) const {
        blkmov_sync(source, target, 1, slot);
    }
    template <class T>
    void get_sync(Global<T> source, std::type_identity_t<T>& target, SlotArgument slot) const {
        blkmov_sync(source, to_global(target), 1, slot);
    }

    /// BLKMOV_SYNC: copies `count` values from `source` to `target`, each on any node.
    template <class T>
    void blkmov_sync(Global<T> source, Global<std::type_identity_t<T>> target, std::size_t count,
                     SlotArgument slot) const {
        static_assert(std::is_trivially_copyable_v<T>);
        Global<const std::byte> from;
        from.node = source.node;
        from.address = source.address;
        Global<std::byte> to;
        to.node = target.node;
        to.address = target.address;
        move(from, to, count * sizeof(T), slot);
    }

    // --- mailboxes
    /// INIT_MAILBOX: each item that arrives signals `slot`, which is on this node.
    void init_mailbox(Mailbox& mailbox, runtime::SyncSlot& slot) const { mailbox.open(node_id(), slot); }

    /// DROP_IN: sends an item, of any size, to a mailbox on any node.
    void drop_in(Global<Mailbox> mailbox, std::span<const std::byte> item) const;
    template <class T>
    void drop_in(Global<Mailbox> mailbox, const T& item) const {
        static_assert(std::is_trivially_copyable_v<T>);
        drop_in(mailbox, std::as_bytes(std::span(&item, 1)));
    }

    /// RETRIEVE_ITEM: takes the item out that arrived first. Returns its size in bytes; 0 where there is
    /// none. Throws Error where it does not fit, or where the mailbox is on another node.
    std::size_t retrieve_item(Mailbox& mailbox, std::span<std::byte> into) const;
    template <class T>
    std::size_t retrieve_item(Mailbox& mailbox, T& into) const {
        static_assert(std::is_trivially_copyable_v<T>);
        return retrieve_item(mailbox, std::as_writable_bytes(std::span(&into, 1)));
    }

    /// RETRIEVE_ITEM_ADDR: the same for items of unknown size; empty where there is none.
    runtime::Bytes retrieve_item_addr(Mailbox& mailbox) const;

    // --- work
    /// Declares `units` units of the program's work (runtime::Program::unit).
    void work(std::uint64_t units = 1) const { worker_->work(units); }
    /// Runs `code` as user work of a declared cost.
    template <class Code>
    void compute(runtime::Work cost, const Code& code) const {
        worker_->compute(cost, code);
    }

    /// The node's program, for settings and what a sequential program would keep in globals.
    template <class P>
    P& program() const {
        return static_cast<P&>(worker_->program());
    }

    /// What threads of this node find without a message.
    Directory& directory() const;

    runtime::Worker& worker() const { return *worker_; }

private:
    bool checked() const { return detail::pool_of(*worker_).checked(); }
    void touch(const void* begin, std::size_t bytes) const { worker_->node().touched(begin, bytes); }
    void invoke_elsewhere(NodeId node, const runtime::TaskType& type,
                          std::span<const std::byte> parameters) const;
    void move(Global<const std::byte> source, Global<std::byte> target, std::size_t bytes,
              SlotArgument slot) const;

    runtime::Worker* worker_;
    Frame* thread_;
};

/// A program in EARTH alone, on one node (any other program calls earth::start): `main` runs once, on node 0,
/// and starts the first threads.
class Program : public runtime::Program {
public:
    /// `checked`: EarthNode::check.
    explicit Program(bool checked = false) : checked_(checked) {}

    virtual void main(Em em) = 0;

    void set_up(runtime::Node& node) override;
    void begin(runtime::Worker& worker) override;

    /// Threads of this node that no fiber has terminated. When the run is over.
    std::uint64_t unterminated() const { return earth_->unterminated(); }

private:
    bool checked_;
    EarthNode* earth_ = nullptr;
};

inline Directory& Em::directory() const {
    return worker_->node().state<EarthNode>().directory();
}

}  // namespace heddle::model::earth

#include "model/earth/fiber_run.hpp"
