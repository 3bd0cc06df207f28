// Starts threads on this process and on others (pCoR: remote creation of threads).
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "model/messaging/thread.hpp"
#include "runtime/comm/outbox.hpp"
#include "runtime/comm/serialize.hpp"
#include "runtime/core/readable.hpp"

namespace heddle::messaging {

class Threads {
public:
    using Body = std::function<void(Thread& self)>;

    /// `caller`: a worker of the node, or its receiver in a handler.
    static ThreadId start(runtime::Node& node, runtime::Context& caller, std::string what, Body body);

    /// Asks `process` by a message of that handler, and waits for the new thread's identifier.
    static ThreadId start_there(runtime::Strand& strand, ProcessId process, const runtime::Handler& handler,
                                runtime::Writer arguments);

    /// In such a handler: what starts the thread reads the arguments.
    static void on_start(runtime::Node& node, ProcessId from, std::span<const std::byte> message,
                         const std::string& what, Body (*read)(runtime::Reader& arguments));

    /// Those that there are now, ascending.
    static std::vector<ProcessId> processes(const runtime::Node& node);

    /// Throws Error if there is none of that number.
    static void expect_process(const runtime::Node& node, ProcessId process);
};

namespace detail {

template <class Function>
struct Parameters;
template <class... P>
struct Parameters<void (*)(Thread&, P...)> {
    using Values = std::tuple<std::decay_t<P>...>;
};

}  // namespace detail

/// A function that threads run: function(Thread& self, values...).
template <auto function>
struct ThreadFunction {
    using Values = typename detail::Parameters<decltype(function)>::Values;

    template <class... Given>
    static ThreadId create(runtime::Strand& strand, ProcessId process, Given&&... given) {
        runtime::Node& node = strand.worker().node();
        Threads::expect_process(node, process);
        Values values(std::forward<Given>(given)...);
        if (process == node.id())
            return Threads::start(node, strand.worker(), what(), body(std::move(values)));
        runtime::Writer writer;
        std::apply([&](const auto&... value) { (write(writer, value), ...); }, values);
        return Threads::start_there(strand, process, handler, std::move(writer));
    }

private:
    template <class T>
    static void write(runtime::Writer& writer, const T& value) {
        static_assert(runtime::Serializable<T>,
                      "an argument of a thread travels: specialize heddle::runtime::Serialize for its type");
        runtime::Serialize<T>::write(writer, value);
    }
    template <class... T>
    static std::tuple<T...> read(runtime::Reader& reader, const std::tuple<T...>* /*of*/) {
        return std::tuple<T...>{runtime::Serialize<T>::read(reader)...};  // in braces: in their order
    }
    static Threads::Body body(Values values) {
        return [values = std::move(values)](Thread& self) {
            std::apply([&](const auto&... value) { function(self, value...); }, values);
        };
    }
    static std::string what() {
        std::string name = runtime::readable(typeid(ThreadFunction).name());  // ...<&a::b::function>
        name.resize(std::min(name.size(), name.rfind('>')));
        return name.substr(name.find_last_of(":&") + 1);
    }

    static const runtime::Handler handler;
};

template <auto function>
const runtime::Handler ThreadFunction<function>::handler(
    typeid(ThreadFunction).name(), runtime::Handler::Kind::work,
    [](runtime::Node& node, NodeId from, std::span<const std::byte> message) {
        Threads::on_start(node, from, message, what(), [](runtime::Reader& reader) {
            return body(read(reader, static_cast<const Values*>(nullptr)));
        });
    });

}  // namespace heddle::messaging
