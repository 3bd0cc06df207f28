// States that execution models have for each node, or each worker. A model declares a type, and the node or
// worker makes an object of it when it is first asked for. Nothing here knows any model.
//
//     struct Futures : runtime::State<runtime::Node> {
//         explicit Futures(runtime::Node& node);
//         ...
//     };
//     Futures& futures = node.state<Futures>();
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "runtime/core/spin_lock.hpp"

namespace heddle::runtime {

struct NodeReport;

/// The base of such a type. `Owner`: Node or Worker.
template <class Owner>
class State {
public:
    virtual ~State() = default;
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    /// Whether other nodes may need what is kept here. Then the owner's node may not leave the run. Asked
    /// while the node has no work.
    virtual bool keeps_node() const { return false; }

    /// Adds to what its node reports when the run is over.
    virtual void report(NodeReport& /*report*/) const {}

protected:
    State() = default;
};

/// The states of one owner. Any context of the node may ask for one. They are destroyed with their owner.
template <class Owner>
class States {
public:
    States() : states_(std::make_unique<Place[]>(kinds())) {}
    ~States() {
        for (std::size_t i = kinds(); i > 0; --i) delete states_[i - 1].load(std::memory_order_relaxed);
    }
    States(const States&) = delete;
    States& operator=(const States&) = delete;

    template <class T>
    T& get(Owner& owner) {
        if (auto* const made = states_[Kind<T>::index].load(std::memory_order_acquire)) [[likely]]
            return static_cast<T&>(*made);
        return make<T>(owner);
    }

    /// State::keeps_node of any that was made.
    bool keep_node() const {
        for (std::size_t i = 0; i < kinds(); ++i) {
            const State<Owner>* const state = states_[i].load(std::memory_order_acquire);
            if (state && state->keeps_node()) return true;
        }
        return false;
    }

    /// State::report of all that were made, by the names of their types: types are numbered in the order in
    /// which the program was linked.
    void report(NodeReport& to) const {
        std::vector<const State<Owner>*> made;
        for (std::size_t i = 0; i < kinds(); ++i)
            if (const State<Owner>* const state = states_[i].load(std::memory_order_acquire))
                made.push_back(state);
        std::ranges::stable_sort(
            made, {}, [](const State<Owner>* state) { return std::string_view(typeid(*state).name()); });
        for (const State<Owner>* const state : made) state->report(to);
    }

private:
    using Place = std::atomic<State<Owner>*>;

    /// Numbers the types that the program asks for, before `main`.
    template <class T>
    struct Kind {
        static const std::size_t index;
    };
    static std::size_t& kinds() {
        static std::size_t count = 0;
        return count;
    }

    template <class T>
    T& make(Owner& owner) {
        const SpinLock::Guard guard(lock_);
        Place& place = states_[Kind<T>::index];
        if (!place.load(std::memory_order_relaxed)) place.store(new T(owner), std::memory_order_release);
        return static_cast<T&>(*place.load(std::memory_order_relaxed));
    }

    std::unique_ptr<Place[]> states_;
    SpinLock lock_;  ///< over making one
};

template <class Owner>
template <class T>
const std::size_t States<Owner>::Kind<T>::index = States<Owner>::kinds()++;

}  // namespace heddle::runtime
