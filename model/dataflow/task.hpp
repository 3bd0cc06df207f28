// Makes a task of a C++ function: function(Thread&, parameters...), where a parameter is an access to a
// shared object (shared.hpp) or a value. Lays a closure out, fills it, and calls the function with it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "model/dataflow/shared.hpp"
#include "model/dataflow/travel.hpp"
#include "model/task_function.hpp"
#include "runtime/core/node.hpp"

namespace heddle::dataflow {

namespace detail {

template <class P>
concept IsHandle = requires {
    typename P::Value;
    { P::mode } -> std::convertible_to<Mode>;
};

template <class P>
concept Accumulates = requires {
    typename P::Accumulate;
};

/// Adds a contribution that a task of a group has made, if it has made one (group.hpp).
template <class T, class Operator>
void combine(Thread& /*self*/, shared_rw<T> into, shared_r<T> contribution) {
    if (!contribution.access().data->written) return;
    if (into.written()) {
        Operator{}(into.value(), contribution.read());
    } else {
        into.write(contribution.read());
    }
}

/// What the scheduler must know of a formal parameter.
template <class P>
constexpr Formal formal_of() {
    using T = typename P::Value;
    if constexpr (Accumulates<P>) {
        using Operator = typename P::Accumulate;
        const ClosureType* combines = nullptr;
        if constexpr (std::is_copy_constructible_v<T>) combines = &Task<&combine<T, Operator>>::type;
        return {P::mode, &ValueTypeOf<T>::type, &merge<T, Operator>, combines};
    } else {
        return {P::mode, &ValueTypeOf<T>::type, nullptr, nullptr};
    }
}

/// Whether a parameter may leave its node.
template <class P>
constexpr bool parameter_travels() {
    if constexpr (IsHandle<P>) {
        return model::detail::value_travels<typename P::Value>();
    } else {
        return model::detail::value_travels<P>();
    }
}

/// How many of the first `before` parameters are accesses; or values.
template <class... P>
constexpr std::size_t handles_before(std::size_t before) {
    constexpr std::array<bool, sizeof...(P) + 1> handle{IsHandle<P>..., false};
    std::size_t count = 0;
    for (std::size_t i = 0; i < before; ++i) count += handle[i] ? 1 : 0;
    return count;
}

/// A tuple of the parameters that are values.
template <class P>
using Kept = std::conditional_t<IsHandle<P>, std::tuple<>, std::tuple<P>>;

}  // namespace detail

/// The task of function(Thread&, P...).
template <class Function, Function function, class... P>
struct TaskOf {
    static constexpr std::size_t accesses = detail::handles_before<P...>(sizeof...(P));
    static_assert(accesses < 256, "a task has at most 255 accesses");
    using Values = decltype(std::tuple_cat(std::declval<detail::Kept<P>>()...));
    static constexpr std::size_t values_at =
        (sizeof(Closure) + accesses * sizeof(Access) + alignof(Values) - 1) / alignof(Values) *
        alignof(Values);
    static constexpr std::size_t bytes = values_at + (std::is_empty_v<Values> ? 0 : sizeof(Values));
    static_assert(alignof(Values) <= Stack::alignment, "a value may be aligned to 16 bytes at most");
    static constexpr bool travels = (detail::parameter_travels<P>() && ...);

    /// A closure of these arguments in the thread's stack.
    template <class... Given>
    static Closure& make(Thread& thread, Given&&... given) {
        static_assert(sizeof...(Given) == sizeof...(P),
                      "a task gets as many arguments as its function has "
                      "parameters after the thread");
        if constexpr (!travels) expect_one_node(thread);
        auto* const closure = static_cast<Closure*>(thread.take(bytes));
        closure->type = &type;
        closure->next = nullptr;
        closure->first = nullptr;
        ::new (static_cast<void*>(&closure->state)) std::atomic<std::uint32_t>(Closure::created);
        closure->aliases = false;
        closure->replaced = false;
        fill(*closure, std::index_sequence_for<P...>{}, std::forward<Given>(given)...);
        return *closure;
    }

    static const runtime::TaskType travelling;

private:
    static Values& values(Closure& closure) {
        return *std::launder(reinterpret_cast<Values*>(closure.values()));
    }

    template <std::size_t... I, class... Given>
    static void fill(Closure& closure, std::index_sequence<I...>, Given&&... given) {
        (link<I, P>(closure, given), ...);
        if constexpr (!std::is_empty_v<Values>) {
            ::new (static_cast<void*>(closure.values()))
                Values(std::tuple_cat(keep<P>(std::forward<Given>(given))...));
        }
    }
    template <class Parameter, class Given>
    static detail::Kept<Parameter> keep(Given&& given) {
        if constexpr (detail::IsHandle<Parameter>) {
            return {};
        } else {
            return std::tuple<Parameter>(static_cast<Parameter>(std::forward<Given>(given)));
        }
    }

    /// Binds parameter `i` to the object that it was given.
    template <std::size_t i, class Parameter, class Given>
    static void link(Closure& closure, const Given& given) {
        if constexpr (detail::IsHandle<Parameter>) {
            static_assert(detail::IsHandle<Given>, "dataflow: this parameter takes a shared object");
            static_assert(std::is_same_v<typename Parameter::Value, typename Given::Value>,
                          "dataflow: the shared object has another type than the parameter");
            expect_passing<Given::mode, Parameter::mode>();
            if constexpr (detail::Accumulates<Given> && detail::Accumulates<Parameter>) {
                static_assert(
                    std::is_same_v<typename Given::Accumulate, typename Parameter::Accumulate>,
                    "dataflow rule operator: what is accumulated with an operator is passed on to be "
                    "accumulated with the same operator only");
            }
            constexpr std::size_t index = detail::handles_before<P...>(i);
            Access* const all = closure.accesses();
            Access& root = given.access();
            if constexpr (Given::mode == Mode::w) {
                if (root.is(Access::given)) [[unlikely]]
                    refuse_write();
                root.set(Access::given);
            }
            Access& access = all[index];
            access.root = &root;
            access.noted = 0;
            access.mode = direct(Parameter::mode);
            access.index = static_cast<std::uint8_t>(index);
            access.link = Access::Link::object;
            access.flags = 0;
            for (std::size_t before = 0; before < index; ++before) {
                if (all[before].root == &root) [[unlikely]]
                    return join_alias(closure, all[before], access);
            }
        }
    }

    template <std::size_t i, class Parameter>
    static decltype(auto) parameter(Thread& thread, Closure& closure) {
        if constexpr (detail::IsHandle<Parameter>) {
            Access& formal = closure.accesses()[detail::handles_before<P...>(i)];
            Access& access = closure.aliases && formal.alias() ? *formal.root : formal;
            if constexpr (std::is_constructible_v<Parameter, Access&, Thread&>) {
                return Parameter(access, thread);
            } else {
                return Parameter(access);
            }
        } else {
            return std::move(std::get<i - detail::handles_before<P...>(i)>(values(closure)));
        }
    }
    template <std::size_t... I>
    static void call(Thread& thread, Closure& closure, std::index_sequence<I...>) {
        function(thread, parameter<I, P>(thread, closure)...);
    }

    static void run(Thread& thread, Closure& closure) {
        thread.worker().count_task();
        // Now their roots have what was written before.
        Access* const bound = closure.accesses();
        for (std::size_t i = 0; i < accesses; ++i) bound[i].data = bound[i].root->data;
        if constexpr (std::is_trivially_destructible_v<Values>) {
            call(thread, closure, std::index_sequence_for<P...>{});
        } else {
            // Also if the body throws.
            struct End {
                Closure& closure;
                ~End() { destroy_values(closure); }
            };
            const End end{closure};
            call(thread, closure, std::index_sequence_for<P...>{});
        }
    }
    static void arrive(runtime::Worker& worker, runtime::Slot* /*head*/, std::byte* payload) {
        start_arrived(worker, payload, type);
    }
    static void move_values(Closure& to, Closure& from) {
        if constexpr (!std::is_empty_v<Values>) {
            ::new (static_cast<void*>(to.values())) Values(std::move(values(from)));
            destroy_values(from);
        }
    }
    static void destroy_values(Closure& closure) {
        if constexpr (!std::is_empty_v<Values>) values(closure).~Values();
    }
    static void write_values(const Closure& closure, runtime::Writer& writer) {
        if constexpr (travels && !std::is_empty_v<Values>) {
            std::apply([&](const auto&... value) { (write_value(writer, value), ...); },
                       *std::launder(reinterpret_cast<const Values*>(closure.values())));
        }
    }
    template <class Value>
    static void write_value(runtime::Writer& writer, const Value& value) {
#if __has_builtin(__builtin_clear_padding)
        // Equal values are equal bytes then, by which nodes compare what they have recorded.
        if constexpr (runtime::TravelsAsBytes<Value> && !std::has_unique_object_representations_v<Value>) {
            Value same = value;
            __builtin_clear_padding(&same);
            return runtime::Serialize<Value>::write(writer, same);
        }
#endif
        runtime::Serialize<Value>::write(writer, value);
    }
    static void read_values(Closure& closure, runtime::Reader& reader) {
        if constexpr (travels && !std::is_empty_v<Values>)
            ::new (static_cast<void*>(closure.values())) Values(ReadTuple<Values>::read(reader));
    }
    template <class Tuple>
    struct ReadTuple;
    template <class... V>
    struct ReadTuple<std::tuple<V...>> {
        /// In braces the values are read in their order.
        static std::tuple<V...> read(runtime::Reader& reader) {
            return std::tuple<V...>{runtime::Serialize<V>::read(reader)...};
        }
    };

    static constexpr std::array<Formal, accesses + 1> formals() {
        std::array<Formal, accesses + 1> all{};
        std::size_t next = 0;
        (
            [&] {
                if constexpr (detail::IsHandle<P>) all[next++] = detail::formal_of<P>();
            }(),
            ...);
        return all;
    }
    static constexpr std::array<Formal, accesses + 1> formal_parameters = formals();

    static void expect_one_node(const Thread& thread) {
        if (thread.worker().node().topology().nodes > 1) [[unlikely]]
            refuse_to_travel(type);
    }

public:
    static constexpr ClosureType type{static_cast<std::uint32_t>(bytes),
                                      static_cast<std::uint32_t>(values_at),
                                      static_cast<std::uint32_t>(accesses),
                                      formal_parameters.data(),
                                      &run,
                                      &move_values,
                                      &destroy_values,
                                      &write_values,
                                      &read_values,
                                      &travelling};
};

template <class Function, Function function, class... P>
const runtime::TaskType TaskOf<Function, function, P...>::travelling(typeid(TaskOf).name(), &TaskOf::arrive,
                                                                     sizeof(void*), 0, travels,
                                                                     travelling_special(type));

namespace detail {

template <class Function>
struct Parameters;
template <class... P>
struct Parameters<void (*)(Thread&, P...)> {
    template <auto function>
    using Of = TaskOf<void (*)(Thread&, P...), function, std::decay_t<P>...>;
};

}  // namespace detail

template <auto function>
struct Task : detail::Parameters<decltype(function)>::template Of<function> {};

}  // namespace heddle::dataflow
