// Runs EARTH's activations and fibers: the functions of threaded.hpp and fiber.hpp that need the complete
// class Em. Programs include earth.hpp instead.
#pragma once

namespace heddle::model::earth {

template <class F>
void Activation<F>::run(runtime::Worker& worker, runtime::Slot* /*head*/, std::byte* payload) {
    static_assert(std::is_aggregate_v<F>, "a threaded function is an aggregate: it has no constructor");
    FramePool& pool = detail::pool_of(worker);
    Parameters parameters;
    std::memcpy(&parameters, payload, sizeof parameters);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
    F& thread = *::new (pool.allocate(F::info())) F{{parameters}};
#pragma GCC diagnostic pop
    if constexpr (!std::is_trivially_destructible_v<F>)
        detail::remember(worker.node(), thread, [](Frame& frame) { static_cast<F&>(frame).~F(); });
    thread.init(Em(worker, &thread));
    detail::end_fiber(worker, thread);
}

template <class F>
const runtime::TaskType Activation<F>::token("earth.token " + F::info().name, &Activation<F>::run,
                                             sizeof(Parameters), 0, travels,
                                             {.end = runtime::TaskType::End::detached});
template <class F>
const runtime::TaskType Activation<F>::invocation("earth.invoke " + F::info().name, &Activation<F>::run,
                                                  sizeof(Parameters), 0, false,
                                                  {.end = runtime::TaskType::End::detached});

template <auto Function, bool exclusive, std::uint32_t priority>
void Fiber<Function, exclusive, priority>::run(runtime::Worker& worker, runtime::Slot* /*head*/,
                                               std::byte* payload) {
    F* thread = nullptr;
    std::memcpy(&thread, payload, sizeof thread);
    detail::begin_fiber<Function>(worker, *thread);
    (thread->*Function)(Em(worker, thread));
    if constexpr (exclusive) detail::schedule_next_exclusive(*thread, worker);
    detail::end_fiber(worker, *thread);
}

template <auto Function, bool exclusive, std::uint32_t priority>
const runtime::TaskType Fiber<Function, exclusive, priority>::type(
    // Compilers write the same for some functions, of templates for example, but name their types apart.
    "earth.fiber " + F::info().name + " " + typeid(Fiber).name(), &Fiber::run, sizeof(F*), 0, false,
    {.end = runtime::TaskType::End::detached});

template <auto Function>
void FiberOf<Function>::run(runtime::Worker& worker, runtime::Slot* /*head*/, std::byte* payload) {
    Payload given;
    std::memcpy(&given, payload, sizeof given);
    F& thread = *given.frame;
    detail::begin_fiber<Function>(worker, thread);
    std::move(given.arguments).apply([&](auto&&... values) {
        (thread.*Function)(Em(worker, &thread), values...);
    });
    detail::end_fiber(worker, thread);
}

template <auto Function>
const runtime::TaskType FiberOf<Function>::type("earth.fiber " + F::info().name + " " +
                                                    typeid(FiberOf).name(),
                                                &FiberOf::run, sizeof(Payload), 0, false,
                                                {.end = runtime::TaskType::End::detached});

}  // namespace heddle::model::earth
