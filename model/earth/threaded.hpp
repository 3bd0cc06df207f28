// Makes an EARTH threaded function of a struct: the base class that gives it a frame, and the tasks that
// create an activation.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <string>
#include <type_traits>
#include <typeinfo>

#include "model/earth/fiber.hpp"
#include "model/task_function.hpp"

namespace heddle::model::earth {

namespace detail {

std::string demangled(const char* name);

}  // namespace detail

/// For a function without parameters.
struct NoParameters {};

/// What a threaded function F derives from: `struct F : Threaded<F, FParameters>`. FParameters is an
/// aggregate, plain bytes, 48 at most, whose members F uses as its own. F itself is an aggregate, too:
/// variables, fibers, no constructor.
template <class F, class P = NoParameters>
class Threaded : public Frame, public P {
public:
    using Parameters = P;

    // NOLINTNEXTLINE(google-explicit-constructor): threads inherit it, and are made from parameters
    Threaded(const P& parameters) : Frame(info()), P(parameters) {}

    static const FunctionInfo& info() {
        static const FunctionInfo function{its_name(), sizeof(F), alignof(F)};
        return function;
    }

private:
    static std::string its_name() {
        if constexpr (requires { F::name; }) {
            return F::name;
        } else {
            return detail::demangled(typeid(F).name());
        }
    }
};

/// A new activation of F: the tasks that make its frame and run its initialization fiber.
template <class F>
struct Activation {
    using Parameters = typename F::Parameters;
    static_assert(std::is_trivially_copyable_v<Parameters> && std::is_aggregate_v<Parameters>,
                  "parameters of a threaded function are an aggregate of plain bytes");
    static_assert(sizeof(Parameters) <= runtime::payload_bytes,
                  "a threaded function has 48 bytes of parameters: pass a global reference to more");
    static constexpr bool travels = model::detail::value_travels<Parameters>();

    static void run(runtime::Worker& worker, runtime::Slot* head, std::byte* payload);

    static const runtime::TaskType token;       ///< goes anywhere
    static const runtime::TaskType invocation;  ///< stays on its node
};

}  // namespace heddle::model::earth
