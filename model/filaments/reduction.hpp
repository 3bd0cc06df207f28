// Reduction variables: filaments read and write copies without a lock, and `reduce` combines all copies of
// all nodes and gives every copy the result (Filaments::reduce).
//
// The paper has a copy a processor. Here each pool of a processor has one: a filament may be left for another
// one, in a page fault, between the read of its copy and the write.
//
//     Reduction<double> maxdiff_{*this, "maxdiff"};  // in a FilamentProgram
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/ids.hpp"

namespace heddle::filaments {

// NOLINTBEGIN(readability-identifier-naming): they are used as functions are
struct Add {
    template <class T>
    T operator()(const T& a, const T& b) const {
        return a + b;
    }
};
struct Max {
    template <class T>
    T operator()(const T& a, const T& b) const {
        return a < b ? b : a;
    }
};
struct Min {
    template <class T>
    T operator()(const T& a, const T& b) const {
        return b < a ? b : a;
    }
};
inline constexpr Add add;
inline constexpr Max max;
inline constexpr Min min;
// NOLINTEND(readability-identifier-naming)

class ReductionBase;

/// The reduction variables of a program, which outlives them. A filament must neither make nor end one.
class ReductionOwner {
public:
    const std::vector<ReductionBase*>& reductions() const { return reductions_; }

protected:
    ReductionOwner() = default;
    ~ReductionOwner() = default;

private:
    friend class ReductionBase;

    std::vector<ReductionBase*> reductions_;
};

class ReductionBase {
public:
    ReductionBase(ReductionOwner& owner, std::string_view name) : owner_(owner), name_(name) {
        owner_.reductions_.push_back(this);
    }
    virtual ~ReductionBase() { std::erase(owner_.reductions_, this); }
    ReductionBase(const ReductionBase&) = delete;
    ReductionBase& operator=(const ReductionBase&) = delete;

    std::string_view name() const { return name_; }

    /// Filaments will run on so many processors, of which none has more pools than `pools`. The first copy of
    /// each processor gets the value that the node's main program has seen or changed, the others the initial
    /// one.
    virtual void begin_phase(CoreId processors, std::size_t pools) = 0;

private:
    ReductionOwner& owner_;
    std::string_view name_;
};

template <class T>
class Reduction final : public ReductionBase {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>,
                  "a reduction variable travels between nodes: plain values only");

public:
    /// `initial`: neutral for the operation that will combine the copies, such as 0 for `add`.
    Reduction(ReductionOwner& owner, std::string_view name, const T& initial = T{})
        : ReductionBase(owner, name), value_(initial), initial_(initial) {}

    void begin_phase(CoreId processors, std::size_t pools) override {
        if (pools > pools_) {
            std::vector<Copy> more(processors * pools, {initial_});
            for (std::size_t i = 0; i < copies_.size(); ++i)
                more[i / pools_ * pools + i % pools_] = copies_[i];
            copies_ = std::move(more);
            pools_ = pools;
        }
        if (state_ == State::one)
            for (std::size_t i = 0; i < copies_.size(); ++i)
                copies_[i].value = i % pools_ == 0 ? value_ : initial_;
        state_ = State::many;
    }

    /// Of a pool, while filaments run.
    T& copy(CoreId processor, std::size_t pool) { return copies_[processor * pools_ + pool].value; }

private:
    friend class Filaments;

    enum class State : std::uint8_t {
        one,   ///< `value_` is the value of every processor's copy
        many,  ///< filaments have run since: each has its own
    };
    struct alignas(64) Copy {
        T value;
    };

    /// The copies of this node: processor by processor, and those of a processor pool by pool.
    template <class Operation>
    T combined(CoreId processors, Operation operation) const {
        if (state_ == State::one) {
            T all = value_;
            for (CoreId i = 1; i < processors; ++i) all = operation(all, value_);
            return all;
        }
        T all = copies_.front().value;
        for (std::size_t i = 1; i < copies_.size(); ++i) all = operation(all, copies_[i].value);
        return all;
    }

    std::vector<Copy> copies_;
    std::size_t pools_ = 0;
    T value_;
    T initial_;
    State state_ = State::one;
};

}  // namespace heddle::filaments
