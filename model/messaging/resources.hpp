// Resources that span processes, as in the system CoR: created by a name, found by it, used by any thread.
// The pCoR paper names them and does not define them (section 1); docs/models/messaging.md does. A resource
// lives in one process, its home, which its name determines. Each call is a request to it.
//
// A resource lives in one process, its home, which its name determines. Each call is a request to it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/messaging/thread.hpp"
#include "runtime/comm/serialize.hpp"

namespace heddle::messaging {

namespace detail {

enum class Kind : std::uint8_t { barrier, synchronizer, data, port, domain, topology };
enum class Call : std::uint8_t {
    create,
    wait,
    acquire,
    release,
    read,
    write,
    put,
    take,
    join,
    leave,
    members,
    place,
    at,
    shape
};

/// What a thread has of a resource: its name.
class Resource {
public:
    const std::string& name() const { return name_; }

protected:
    /// Creates it. If there is one of that name, it must be the same kind with the same parameters.
    Resource(Thread& self, Kind kind, std::string name, const runtime::Writer& parameters);
    /// Finds it: waits until it was created.
    Resource(Kind kind, std::string name) : kind_(kind), name_(std::move(name)) {}

    /// Waits for the answer.
    runtime::Parcel call(Thread& self, Call call, const runtime::Writer& arguments = {}) const;
    template <class T>
    T call_for(Thread& self, Call which, const runtime::Writer& arguments = {}) const {
        return runtime::value_of<T>(call(self, which, arguments));
    }

private:
    Kind kind_;
    std::string name_;
};

template <class T>
runtime::Writer written(const T& value) {
    static_assert(runtime::Serializable<T>,
                  "say how this type travels: specialize heddle::runtime::Serialize");
    runtime::Writer writer;
    runtime::Serialize<T>::write(writer, value);
    return writer;
}

/// Throws Error where there are none.
runtime::Writer members_of_barrier(std::uint32_t members);

}  // namespace detail

/// A number of threads that meet, again and again.
class Barrier : public detail::Resource {
public:
    Barrier(Thread& self, std::string name, std::uint32_t members)
        : Resource(self, detail::Kind::barrier, std::move(name), detail::members_of_barrier(members)) {}
    explicit Barrier(std::string name) : Resource(detail::Kind::barrier, std::move(name)) {}

    /// Returns when as many threads wait as it has members.
    void wait(Thread& self) const { call(self, detail::Call::wait); }
};

/// A counting semaphore; with a count of 1 a lock. Threads get it in the order in which they ask.
class Synchronizer : public detail::Resource {
public:
    Synchronizer(Thread& self, std::string name, std::uint32_t count = 1)
        : Resource(self, detail::Kind::synchronizer, std::move(name), detail::written(count)) {}
    explicit Synchronizer(std::string name) : Resource(detail::Kind::synchronizer, std::move(name)) {}

    void acquire(Thread& self) const { call(self, detail::Call::acquire); }
    void release(Thread& self) const { call(self, detail::Call::release); }
};

/// A value of all processes. Reads and writes are in one order, which all threads see.
template <class T>
class Data : public detail::Resource {
public:
    Data(Thread& self, std::string name, const T& value)
        : Resource(self, detail::Kind::data, std::move(name), detail::written(value)) {}
    explicit Data(std::string name) : Resource(detail::Kind::data, std::move(name)) {}

    T read(Thread& self) const { return this->template call_for<T>(self, detail::Call::read); }
    /// Returns when the value is the new one.
    void write(Thread& self, const T& value) const {
        call(self, detail::Call::write, detail::written(value));
    }
};

/// Messages for no thread in particular: each is taken by one.
template <class T>
class Port : public detail::Resource {
public:
    /// `room`: so many messages wait at most; then `put` waits.
    Port(Thread& self, std::string name, std::uint32_t room = 64)
        : Resource(self, detail::Kind::port, std::move(name), detail::written(room)) {}
    explicit Port(std::string name) : Resource(detail::Kind::port, std::move(name)) {}

    void put(Thread& self, const T& message) const {
        call(self, detail::Call::put, detail::written(message));
    }
    /// Waits for one. The oldest first.
    T take(Thread& self) const { return this->template call_for<T>(self, detail::Call::take); }
};

/// A set of threads that join it and leave it.
class Domain : public detail::Resource {
public:
    Domain(Thread& self, std::string name) : Resource(self, detail::Kind::domain, std::move(name), {}) {}
    explicit Domain(std::string name) : Resource(detail::Kind::domain, std::move(name)) {}

    /// The calling thread becomes a member, the last. Returns how many were before it.
    std::uint64_t join(Thread& self) const {
        return call_for<std::uint64_t>(self, detail::Call::join, detail::written(self.id()));
    }
    void leave(Thread& self) const { call(self, detail::Call::leave, detail::written(self.id())); }
    /// In the order in which they have joined.
    std::vector<ThreadId> members(Thread& self) const {
        return call_for<std::vector<ThreadId>>(self, detail::Call::members);
    }
};

/// Places with neighbours. A thread takes each place, and others find it there.
class Topology : public detail::Resource {
public:
    using Place = std::uint64_t;

    /// Which places are neighbours. Plain lists, so a graph is one as well.
    struct Shape {
        std::vector<std::vector<Place>> neighbours;

        static Shape ring(Place places);
        /// Row after row; the neighbours of a place are before those after it in each dimension, the first
        /// dimension first. A `torus` closes each dimension of more than two places to a ring.
        static Shape grid(const std::vector<Place>& extents);
        static Shape torus(const std::vector<Place>& extents);
        /// Place 0 is the root. Its neighbours: the parent, then the children.
        static Shape tree(Place places, Place arity = 2);
        /// Edges in both directions.
        static Shape graph(Place places, const std::vector<std::pair<Place, Place>>& edges);
    };

    Topology(Thread& self, std::string name, const Shape& shape)
        : Resource(self, detail::Kind::topology, std::move(name), detail::written(shape.neighbours)) {}
    explicit Topology(std::string name) : Resource(detail::Kind::topology, std::move(name)) {}

    /// The calling thread is at `place` from now on.
    void take(Thread& self, Place place) const {
        call(self, detail::Call::place, detail::written(std::pair(place, self.id())));
    }
    /// Waits until a thread has taken that place.
    ThreadId at(Thread& self, Place place) const {
        return call_for<ThreadId>(self, detail::Call::at, detail::written(place));
    }
    std::vector<Place> neighbours(Thread& self, Place place) const {
        return call_for<std::vector<Place>>(self, detail::Call::shape, detail::written(place));
    }
};

}  // namespace heddle::messaging
