// Makes a task of a C++ function: stores its arguments and result in a slot's payload, and registers its
// type. For authors of execution models; programs only write functions.
//
// Arguments that are few plain bytes lie in the payload. Others lie on the heap, and the payload has their
// address. If such a task leaves its node, they travel as cargo (runtime::Serialize). The same holds for
// results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "runtime/comm/serialize.hpp"
#include "runtime/core/task_type.hpp"
#include "runtime/core/worker.hpp"

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

/// True of a struct that a function gets in one or two registers.
template <class T>
constexpr bool goes_in_registers() {
    return std::is_class_v<T> && std::is_trivially_copyable_v<T> && (sizeof(T) == 8 || sizeof(T) == 16);
}

/// Makes a value of type T at `memory`. A struct that goes in registers is written from registers, too. After
/// a store of each field, a load of them together would wait for about 15 cycles: a processor hands on what
/// was just stored only where one store wrote all that is loaded.
template <class T, class Given>
void make_at(void* memory, Given&& given) {
    if constexpr (goes_in_registers<T>()) {
        const T value = made_from<T>(std::forward<Given>(given));
        std::uint64_t words[sizeof(T) / 8];
        std::memcpy(words, &value, sizeof value);
        // For gcc, each word is a new value from here on. Otherwise it stores the fields.
        for (std::uint64_t& word : words) __asm__("" : "+r"(word));
        std::memcpy(memory, words, sizeof value);
    } else {
        ::new (memory) T(made_from<T>(std::forward<Given>(given)));
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
        if constexpr (std::is_trivially_copyable_v<PackOf>) {
            auto* const pack = static_cast<PackOf*>(memory);
            (make_at<T>(&static_cast<Element<I, T>*>(pack)->value, std::forward<Given>(given)), ...);
        } else {  // if one throws, those before it are destroyed
            ::new (memory) PackOf{Element<I, T>{made_from<T>(std::forward<Given>(given))}...};
        }
    }
    template <class... Given>
    static std::unique_ptr<PackOf> on_heap(Given&&... given) {
        return std::unique_ptr<PackOf>(
            new PackOf{Element<I, T>{made_from<T>(std::forward<Given>(given))}...});
    }
    void write(runtime::Writer& writer) const {
        (runtime::Serialize<T>::write(writer, static_cast<const Element<I, T>&>(*this).value), ...);
    }
    static PackOf read(runtime::Reader& reader) {
        return {Element<I, T>{runtime::Serialize<T>::read(reader)}...};
    }
};

template <class... T>
using Pack = PackOf<std::index_sequence_for<T...>, T...>;

/// True where a value may leave its node (runtime::Serializable). An address inside a struct of plain bytes
/// cannot be seen; such a struct says so itself with `static constexpr bool stays_on_node = true`.
template <class T>
constexpr bool value_travels() {
    if constexpr (std::is_void_v<T>) {
        return true;
    } else if constexpr (requires { T::stays_on_node; }) {
        return !T::stays_on_node;
    } else {
        return runtime::Serializable<T>;
    }
}

/// Whether a value must be written to travel, because it is not its bytes.
template <class T>
constexpr bool value_is_written() {
    return !std::is_void_v<T> && value_travels<T>() && !runtime::TravelsAsBytes<T>;
}

template <class Function>
struct Signature;
template <class R, class... A>
struct Signature<R (*)(Strand, A...)> {
    using Result = R;
    using Arguments = Pack<std::decay_t<A>...>;
    static constexpr bool takes_copies = !(std::is_reference_v<A> || ...);
    static constexpr bool travels = value_travels<R>() && (value_travels<std::decay_t<A>>() && ...);
    static constexpr bool writes_arguments = travels && (value_is_written<std::decay_t<A>>() || ...);
    static constexpr bool writes_result = travels && value_is_written<R>();
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
constexpr bool fits_payload() {
    if constexpr (std::is_void_v<T>) {
        return true;
    } else {
        return sizeof(T) <= runtime::payload_bytes && alignof(T) <= 16;
    }
}

/// Bytes of the payload that a value takes.
template <class T, bool on_heap>
constexpr std::size_t bytes_in_payload() {
    if constexpr (std::is_void_v<T>) {
        return 0;
    } else {
        return on_heap ? sizeof(T*) : sizeof(T);
    }
}

template <class T>
void give_to_payload(std::byte* payload, std::unique_ptr<T> value) {
    T* const address = value.release();
    std::memcpy(payload, &address, sizeof address);
}
template <class T>
std::unique_ptr<T> take_from_payload(const std::byte* payload) {
    T* address = nullptr;
    std::memcpy(&address, payload, sizeof address);
    return std::unique_ptr<T>(address);
}

}  // namespace detail

/// The task of F::run(Strand, arguments...). Its name is F::name where there is one, the compiler's
/// otherwise.
template <class F>
struct TaskFunction {
    using Signature = detail::Signature<decltype(&F::run)>;
    using Result = typename Signature::Result;
    using Arguments = typename Signature::Arguments;

    static constexpr bool arguments_on_heap =
        !detail::fits_payload<Arguments>() || Signature::writes_arguments;
    static constexpr bool result_on_heap = !detail::fits_payload<Result>() || Signature::writes_result;
    static constexpr bool drops_arguments = arguments_on_heap || !std::is_trivially_destructible_v<Arguments>;
    static constexpr bool drops_result =
        result_on_heap || !(std::is_void_v<Result> || std::is_trivially_destructible_v<Result>);

    /// The function copies its arguments itself, before it forks (see model/fork_join.hpp).
    static constexpr bool in_place = detail::takes_in_place<F>();
    static_assert(!in_place || (std::is_trivially_destructible_v<Arguments> && !arguments_on_heap),
                  "arguments that are read in place must be few, and not need a destructor");

    /// What every call of the function is declared to cost, in the program's units.
    static constexpr std::uint64_t work_units = detail::work_units_of<F>();

    /// Leaves the arguments of a new task in `payload`.
    template <class... Given>
    static void store(std::byte* payload, Given&&... given) {
        if constexpr (arguments_on_heap) {
            detail::give_to_payload(payload, Arguments::on_heap(std::forward<Given>(given)...));
        } else {
            Arguments::construct(payload, std::forward<Given>(given)...);
        }
    }

    /// Runs the function on the arguments in `payload`, which are gone afterwards. `payload` is that of the
    /// strand's next slot.
    static Result call(Strand strand, std::byte* payload);
    static Result call_on_copy(Strand strand, std::byte* payload);

    /// The result that a thief left in `payload`.
    static Result take_result(std::byte* payload) {
        if constexpr (result_on_heap) {
            return std::move(*detail::take_from_payload<Result>(payload));
        } else if constexpr (!std::is_void_v<Result>) {
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

private:
    static std::uint64_t pack_arguments(runtime::Node& /*node*/, const std::byte* payload,
                                        runtime::Writer& writer) {
        detail::take_from_payload<Arguments>(payload)->write(writer);
        return 0;
    }
    static bool unpack_arguments(runtime::Node& /*node*/, std::byte* payload, runtime::Reader& reader) {
        auto arguments = std::make_unique<Arguments>(Arguments::read(reader));
        if (reader.ok()) detail::give_to_payload(payload, std::move(arguments));
        return reader.ok();
    }
    static std::uint64_t pack_result(runtime::Node& /*node*/, const std::byte* payload,
                                     runtime::Writer& writer) {
        runtime::Serialize<Result>::write(writer, *detail::take_from_payload<Result>(payload));
        return 0;
    }
    static bool unpack_result(runtime::Node& /*node*/, std::byte* payload, runtime::Reader& reader) {
        auto result = std::make_unique<Result>(runtime::Serialize<Result>::read(reader));
        if (reader.ok()) detail::give_to_payload(payload, std::move(result));
        return reader.ok();
    }
    template <class T, bool on_heap>
    static void drop(std::byte* payload) {
        if constexpr (on_heap) {
            detail::take_from_payload<T>(payload);
        } else {
            std::destroy_at(std::launder(reinterpret_cast<T*>(payload)));
        }
    }
    static constexpr runtime::Cargo arguments_cargo{&pack_arguments, &unpack_arguments};
    static constexpr runtime::Cargo result_cargo{&pack_result, &unpack_result};

    static runtime::TaskType::Special special() {
        runtime::TaskType::Special special;
        if constexpr (Signature::travels && arguments_on_heap) special.cargo = &arguments_cargo;
        if constexpr (Signature::travels && result_on_heap) special.result_cargo = &result_cargo;
        if constexpr (drops_arguments) special.drop_arguments = &drop<Arguments, arguments_on_heap>;
        if constexpr (drops_result) special.drop_result = &drop<Result, result_on_heap>;
        return special;
    }
};

template <class F>
const runtime::TaskType TaskFunction<F>::type(
    TaskFunction<F>::name(), &TaskFunction<F>::run,
    detail::bytes_in_payload<Arguments, TaskFunction<F>::arguments_on_heap>(),
    detail::bytes_in_payload<Result, TaskFunction<F>::result_on_heap>(), Signature::travels,
    TaskFunction<F>::special());

}  // namespace heddle::model
