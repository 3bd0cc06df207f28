// A pool: filaments of one phase that one processor executes, one after the other. Neighbours, whose last
// arguments are equally far apart and whose others are equal, are kept as one run. A run is executed as a
// loop around the filament's function, which the compiler knows and makes part of the loop.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/filaments/filament_code.hpp"
#include "model/filaments/processor.hpp"
#include "model/filaments/ranges.hpp"

namespace heddle::filaments {

class PhaseBase;

/// Filaments in a strip. Few, so that a fault finds most of the work before it declared.
inline constexpr std::uint64_t strip_most = 64;

/// What the filaments of any function have in common.
class PoolBase {
public:
    PoolBase(PhaseBase& phase, std::size_t number, CoreId processor, std::uint64_t capacity)
        : phase_(phase), number_(number), processor_(processor), capacity_(capacity) {}
    virtual ~PoolBase() = default;

    CoreId processor() const { return processor_; }
    std::uint64_t filaments() const { return size_; }
    virtual std::size_t runs() const = 0;

    /// Executes every filament once. On the pool's processor.
    virtual void execute(Processor& self) = 0;

    /// While its filthread runs or waits, which one that is.
    const runtime::Strand* filthread() const { return filthread_; }
    void begin(const runtime::Strand& filthread) {
        filthread_ = &filthread;
        faulted_ = false;
    }
    void end() { filthread_ = nullptr; }
    /// Whether a filament has faulted since the pool's execution began.
    bool faulted() const { return faulted_; }
    void note_fault() { faulted_ = true; }

    /// The phase is over: memory is given back, and no filament can be created any more.
    virtual void close() {
        size_ = 0;
        capacity_ = 0;
        closed_ = true;
    }

protected:
    PoolBase(PoolBase&&) = default;

    void count_filament() {
        if (size_ == capacity_) [[unlikely]]
            refuse_filament();
        ++size_;
    }

    /// Whether what filaments declare must be fetched before they run.
    bool fetches_declared(Processor& self) const;
    /// Until the object goes, this is here.
    static dsm::Checkout check_out(Processor& self, const Ranges& ranges);
    /// The same, if all of it is here already and no other node waits for it.
    static std::optional<dsm::Checkout> check_out_at_once(Processor& self, const Ranges& ranges);
    static std::size_t page_bytes_of(Processor& self);
    /// As filaments would by touching it.
    static void fetch(Processor& self, const Ranges& ranges);

    PhaseBase& phase_;

private:
    [[noreturn, gnu::cold]] void refuse_filament() const;

    std::size_t number_;  ///< in its array
    CoreId processor_;
    std::uint64_t capacity_;
    bool closed_ = false;
    std::uint64_t size_ = 0;
    const runtime::Strand* filthread_ = nullptr;
    bool faulted_ = false;
};

template <auto code>
class Phase;

template <auto code>
class Pool final : public PoolBase {
public:
    using Code = FilamentCode<code>;
    using Arguments = typename Code::Arguments;

    Pool(Phase<code>& phase, std::size_t number, CoreId processor, std::uint64_t capacity);

    /// A new filament. Throws Error beyond the pool's capacity.
    void create(const Arguments& arguments) {
        count_filament();
        if constexpr (Code::makes_runs()) {
            if (!runs_.empty() && runs_.back().extend(arguments)) return;
        }
        runs_.push_back(Run{arguments});
    }

    std::size_t runs() const override { return runs_.size(); }
    void execute(Processor& self) override;
    void close() override {
        PoolBase::close();
        runs_ = {};
    }

private:
    static constexpr std::size_t arity = Code::arity;

    struct Run {
        Arguments first;
        std::uint64_t count = 1;
        std::uint64_t step = 0;  ///< between last arguments; modulo 2^64

        /// So many of its filaments, after the first `done`.
        Run part(std::uint64_t done, std::uint64_t wanted) const {
            Run some = *this;
            some.count = wanted;
            if constexpr (Code::makes_runs()) {
                auto& last = std::get<arity - 1>(some.first);
                last = static_cast<std::tuple_element_t<arity - 1, Arguments>>(
                    static_cast<std::uint64_t>(last) + step * done);
            }
            return some;
        }

        bool extend(const Arguments& next) {
            if (!same_begin(next, std::make_index_sequence<arity - 1>{})) return false;
            const auto begin = static_cast<std::uint64_t>(std::get<arity - 1>(first));
            const auto last = static_cast<std::uint64_t>(std::get<arity - 1>(next));
            if (count == 1) step = last - begin;
            if (last != begin + step * count) return false;
            ++count;
            return true;
        }
        template <std::size_t... I>
        bool same_begin(const Arguments& next, std::index_sequence<I...> /*all but the last*/) const {
            return ((std::get<I>(first) == std::get<I>(next)) && ...);
        }
    };

    void execute_declared(Processor& self);
    void declare(const Run& run, Ranges& ranges) const;
    std::size_t execute_together(Processor& self, std::size_t first);
    template <bool charged, std::size_t... I>
    static void execute_run(typename Code::Program& program, typename Code::ExecuteStrip strip,
                            Processor& self, const Run& run, std::uint64_t units,
                            std::index_sequence<I...> begin);

    /// Filaments of a run without strips.
    static constexpr std::uint64_t between_polls = 256;

    std::vector<Run> runs_;
};

/// `strip`: null, or what executes neighbours. `begin`: the arguments but the last.
template <auto code>
template <bool charged, std::size_t... I>
[[gnu::noinline]] void Pool<code>::execute_run(typename Code::Program& program,
                                               typename Code::ExecuteStrip strip, Processor& self,
                                               const Run& run, std::uint64_t units,
                                               std::index_sequence<I...> /*begin*/) {
    const Arguments first = run.first;  // no store of a filament can change it
    if constexpr (!Code::makes_runs()) {
        std::apply([&](const auto&... values) { (program.*code)(self, values...); }, first);
        if constexpr (charged) self.declared().declare(units);
    } else {
        if (strip && (run.step == 1 || run.count == 1)) {
            for (std::uint64_t done = 0; done < run.count; done += strip_most) {
                const Run part = run.part(done, std::min(strip_most, run.count - done));
                (program.*strip)(self, std::get<I>(first)..., std::get<arity - 1>(part.first), part.count);
                if constexpr (charged) self.declared().declare(units * part.count);
                self.declared().step(charged);
            }
            return;
        }
        using Last = std::tuple_element_t<arity - 1, Arguments>;
        Last last = std::get<arity - 1>(first);
        if (run.step == 1) {
            for (const auto end = static_cast<Last>(static_cast<std::uint64_t>(last) + run.count - 1);;
                 ++last) {
                (program.*code)(self, std::get<I>(first)..., last);
                if constexpr (charged) self.declared().declare(units);
                if (last == end) return;
            }
        }
        for (std::uint64_t i = 0; i < run.count; ++i) {
            (program.*code)(self, std::get<I>(first)..., last);
            if constexpr (charged) self.declared().declare(units);
            last = static_cast<Last>(static_cast<std::uint64_t>(last) + run.step);
        }
    }
}

}  // namespace heddle::filaments
