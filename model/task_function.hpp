// Makes a task of a C++ function: stores its arguments and result in a slot's payload, and registers its
// type. For authors of execution models; programs only write functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "runtime/task_type.hpp"
#include "runtime/worker.hpp"

namespace heddle::model {

class Strand;

namespace detail {

/// A value of type T from what a program gives for it: something like it, or a function that makes it. What
/// such a function returns is made where the value is kept, and not copied there.
template <class T, class Given>
T made_from(Given&& given) {
    if constexpr (std::is_invocable_r_v<T, Given> && !std::is_convertible_v<Given, T>) {
        return std::forward<Given>(given)();
    } else {
        return static_cast<T>(std::forward<Given>(given));
    }
}

template <std::size_t, class T>
struct Element {
    T value;
};

template <class Indices, class... T>
struct PackOf;

/// Values one after the other, trivially copyable where all of them are (std::tuple never is).
template <std::size_t... I, class... T>
struct PackOf<std::index_sequence<I...>, T...> : Element<I, T>... {
    template <class Function>
    decltype(auto) apply(Function&& function) && {
        return function(std::move(static_cast<Element<I, T>&>(*this).value)...);
    }
    template <class... Given>
    static void construct(void* memory, Given&&... given) {
        ::new (memory) PackOf{Element<I, T>{made_from<T>(std::forward<Given>(given))}...};
    }
};

template <class... T>
using Pack = PackOf<std::index_sequence_for<T...>, T...>;

/// True where a value may leave its node: plain bytes, and no address among what can be seen. An address
/// inside a struct cannot be seen; such a struct says so itself with `static constexpr bool stays_on_node =
/// true`.
template <class T>
constexpr bool value_travels() {
    if constexpr (std::is_void_v<T>) {
        return true;
    } else if constexpr (requires { T::stays_on_node; }) {
        return !T::stays_on_node;
    } else {
        return std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_member_pointer_v<T>;
    }
}

template <class Function>
struct Signature;
template <class R, class... A>
struct Signature<R (*)(Strand, A...)> {
    using Result = R;
    using Arguments = Pack<std::decay_t<A>...>;
    static constexpr bool travels = value_travels<R>() && (value_travels<std::decay_t<A>>() && ...);
};

template <class F>
constexpr bool takes_in_place() {
    if constexpr (requires { F::in_place; }) {
        return F::in_place;
    } else {
        return false;
    }
}

template <class F>
constexpr std::uint64_t work_units_of() {
    if constexpr (requires { F::work_units; }) {
        return F::work_units;
    } else {
        return 0;
    }
}

template <class T>
constexpr std::size_t size_of() {
    if constexpr (std::is_void_v<T>) {
        return 0;
    } else {
        return sizeof(T);
    }
}

}  // namespace detail

/// The task of F::run(Strand, arguments...). Its name is F::name where there is one, the compiler's
/// otherwise.
template <class F>
struct TaskFunction {
    using Signature = detail::Signature<decltype(&F::run)>;
    using Result = typename Signature::Result;
    using Arguments = typename Signature::Arguments;

    static_assert(
        sizeof(Arguments) <= runtime::payload_bytes && alignof(Arguments) <= 16,
        "a task carries 48 bytes of arguments: keep larger data in the node's Program and pass an index");
    static_assert(detail::size_of<Result>() <= runtime::payload_bytes,
                  "a task returns 48 bytes: leave larger results in the node's Program");

    /// The function copies its arguments itself, before it forks (see model/fork_join.hpp).
    static constexpr bool in_place = detail::takes_in_place<F>();
    static_assert(!in_place || std::is_trivially_destructible_v<Arguments>,
                  "arguments that are read in place must not need a destructor");

    /// What every call of the function is declared to cost, in the program's units.
    static constexpr std::uint64_t work_units = detail::work_units_of<F>();

    /// Runs the function on the arguments in `payload`, which are gone afterwards. `payload` is that of the
    /// strand's next slot.
    static Result call(Strand strand, std::byte* payload);
    static Result call_on_copy(Strand strand, std::byte* payload);

    /// The result that a thief left in `payload`.
    static Result take_result(std::byte* payload) {
        if constexpr (!std::is_void_v<Result>) {
            auto* result = std::launder(reinterpret_cast<Result*>(payload));
            Result taken = std::move(*result);
            result->~Result();
            return taken;
        }
    }

    static void run(runtime::Worker& worker, runtime::Slot* head, std::byte* payload);

    static std::string name() {
        if constexpr (requires { F::name; }) {
            return F::name;
        } else {
            return typeid(F).name();
        }
    }

    static const runtime::TaskType type;
};

template <class F>
const runtime::TaskType TaskFunction<F>::type(TaskFunction<F>::name(), &TaskFunction<F>::run,
                                              sizeof(Arguments), detail::size_of<Result>(),
                                              Signature::travels);

}  // namespace heddle::model
