// Reduction variables: each processor has a copy, which its filaments read and write without a lock. `reduce`
// combines all copies of all nodes and gives every copy the result (Filaments::reduce).
//
//     Reduction<double> maxdiff_{*this, "maxdiff"};  // in a FilamentProgram
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/assert.hpp"
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

class ReductionBase {
public:
    explicit ReductionBase(std::string_view name) : name_(name) {}
    virtual ~ReductionBase() = default;
    ReductionBase(const ReductionBase&) = delete;
    ReductionBase& operator=(const ReductionBase&) = delete;

    std::string_view name() const { return name_; }

    /// Makes the copies of a node's processors.
    virtual void make_copies(CoreId processors) = 0;

    /// Filaments will run: each copy gets the value that the node's main program has seen or changed.
    virtual void begin_phase() = 0;

private:
    std::string_view name_;
};

/// The reduction variables of a program.
class ReductionOwner {
public:
    const std::vector<ReductionBase*>& reductions() const { return reductions_; }

protected:
    ReductionOwner() = default;
    ~ReductionOwner() = default;

private:
    template <class T>
    friend class Reduction;

    std::vector<ReductionBase*> reductions_;
};

template <class T>
class Reduction final : public ReductionBase {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>,
                  "a reduction variable travels between nodes: plain values only");

public:
    Reduction(ReductionOwner& owner, std::string_view name, const T& initial = T{})
        : ReductionBase(name), value_(initial) {
        owner.reductions_.push_back(this);
    }

    void make_copies(CoreId processors) override { copies_.assign(processors, {value_}); }

    void begin_phase() override {
        if (state_ == State::one)
            for (Copy& copy : copies_) copy.value = value_;
        state_ = State::many;
    }

    /// Of a processor, while filaments run.
    T& copy(CoreId processor) { return copies_[processor].value; }

private:
    friend class Filaments;

    enum class State : std::uint8_t {
        one,   ///< `value_` is the value of every copy
        many,  ///< filaments have run since: each processor has its own
    };
    struct alignas(64) Copy {
        T value;
    };

    std::vector<Copy> copies_;
    T value_;
    State state_ = State::one;
};

}  // namespace heddle::filaments
