// Serves calls of resources (barriers, data, ports, domains and others) at their home processes. A call is
// answered at once, or as soon as another call permits it.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"
#include "base/random.hpp"
#include "model/messaging/requests.hpp"
#include "model/messaging/resources.hpp"
#include "runtime/core/node.hpp"

namespace heddle::messaging {

namespace {

using detail::Call;
using detail::Kind;
using runtime::Bytes;
using runtime::Node;
using runtime::Reader;
using runtime::Writer;

template <class T>
T value_in_call(Reader& reader) {
    T value = runtime::Serialize<T>::read(reader);
    reader.check();
    return value;
}

/// One resource at its home. Called by handlers only, which run one at a time.
class Home {
public:
    explicit Home(Node& node) : node_(node) {}
    Home(const Home&) = delete;
    Home& operator=(const Home&) = delete;
    virtual ~Home() = default;

    /// Throws Error, or answers, now or in a later call.
    virtual void on_call(const Asker& asker, Call call, Reader& arguments) = 0;

protected:
    void answer(const Asker& asker, const Writer& value = {}) const { Requests::answer(node_, asker, value); }
    [[noreturn]] static void refuse(Call call) {
        throw runtime::MalformedMessage(
            fmt::format("a resource does not know call {}", static_cast<int>(call)));
    }

private:
    Node& node_;
};

class BarrierHome final : public Home {
public:
    BarrierHome(Node& node, Reader& parameters)
        : Home(node), members_(value_in_call<std::uint32_t>(parameters)) {}
    void on_call(const Asker& asker, Call call, Reader& /*arguments*/) override {
        if (call != Call::wait) refuse(call);
        waiting_.push_back(asker);
        if (waiting_.size() < members_) return;
        for (const Asker& member : std::exchange(waiting_, {})) answer(member);
    }

private:
    std::uint32_t members_;
    std::vector<Asker> waiting_;
};

class SynchronizerHome final : public Home {
public:
    SynchronizerHome(Node& node, Reader& parameters)
        : Home(node), free_(value_in_call<std::uint32_t>(parameters)) {}
    void on_call(const Asker& asker, Call call, Reader& /*arguments*/) override {
        if (call == Call::acquire) {
            waiting_.push_back(asker);
        } else if (call == Call::release) {
            ++free_;
            answer(asker);
        } else {
            refuse(call);
        }
        for (; free_ != 0 && !waiting_.empty(); --free_) {
            answer(waiting_.front());
            waiting_.pop_front();
        }
    }

private:
    std::uint64_t free_;
    std::deque<Asker> waiting_;
};

Writer bytes_of_rest(Reader& reader) {
    Writer bytes;
    bytes.put_bytes(reader.get_rest());
    return bytes;
}

class DataHome final : public Home {
public:
    DataHome(Node& node, Reader& parameters) : Home(node), value_(bytes_of_rest(parameters)) {}
    void on_call(const Asker& asker, Call call, Reader& arguments) override {
        if (call == Call::read) return answer(asker, value_);
        if (call != Call::write) refuse(call);
        value_ = bytes_of_rest(arguments);
        answer(asker);
    }

private:
    Writer value_;
};

class PortHome final : public Home {
public:
    PortHome(Node& node, Reader& parameters) : Home(node), room_(value_in_call<std::uint32_t>(parameters)) {}
    void on_call(const Asker& asker, Call call, Reader& arguments) override {
        if (call == Call::put) {
            puts_.emplace_back(asker, bytes_of_rest(arguments));
        } else if (call == Call::take) {
            takes_.push_back(asker);
        } else {
            refuse(call);
        }
        move();
    }

private:
    /// Messages go to takes; then there may be room for puts, whose messages are there from then on.
    void move() {
        for (bool more = true; more;) {
            more = false;
            if (!puts_.empty() && (messages_.size() < room_ || !takes_.empty())) {
                answer(puts_.front().first);
                messages_.push_back(std::move(puts_.front().second));
                puts_.pop_front();
                more = true;
            }
            if (!messages_.empty() && !takes_.empty()) {
                answer(takes_.front(), messages_.front());
                messages_.pop_front();
                takes_.pop_front();
                more = true;
            }
        }
    }

    std::size_t room_;
    std::deque<Writer> messages_;
    std::deque<std::pair<Asker, Writer>> puts_;  ///< that wait for room
    std::deque<Asker> takes_;                    ///< that wait for a message
};

class DomainHome final : public Home {
public:
    DomainHome(Node& node, Reader& /*parameters*/) : Home(node) {}
    void on_call(const Asker& asker, Call call, Reader& arguments) override {
        if (call == Call::members) return answer(asker, detail::written(members_));
        const auto thread = value_in_call<ThreadId>(arguments);
        const auto found = std::find(members_.begin(), members_.end(), thread);
        if (call == Call::join) {
            if (found != members_.end()) throw Error("a thread joins a domain that it has joined before");
            members_.push_back(thread);
            return answer(asker, detail::written(std::uint64_t{members_.size() - 1}));
        }
        if (call != Call::leave) refuse(call);
        if (found == members_.end()) throw Error("a thread leaves a domain that it has not joined");
        members_.erase(found);
        answer(asker);
    }

private:
    std::vector<ThreadId> members_;
};

class TopologyHome final : public Home {
public:
    TopologyHome(Node& node, Reader& parameters)
        : Home(node), neighbours_(value_in_call<std::vector<std::vector<Topology::Place>>>(parameters)) {}
    void on_call(const Asker& asker, Call call, Reader& arguments) override {
        if (call == Call::place) {
            const auto [place, thread] = value_in_call<std::pair<Topology::Place, ThreadId>>(arguments);
            expect(place);
            Spot& spot = spots_[place];
            if (spot.thread) throw Error(fmt::format("place {} of a topology is taken twice", place));
            spot.thread = thread;
            answer(asker);
            for (const Asker& waiting : std::exchange(spot.waiting, {}))
                answer(waiting, detail::written(thread));
            return;
        }
        const auto place = value_in_call<Topology::Place>(arguments);
        expect(place);
        if (call == Call::shape) return answer(asker, detail::written(neighbours_[place]));
        if (call != Call::at) refuse(call);
        Spot& spot = spots_[place];
        if (!spot.thread) return spot.waiting.push_back(asker);
        answer(asker, detail::written(*spot.thread));
    }

private:
    struct Spot {
        std::optional<ThreadId> thread;
        std::vector<Asker> waiting;  ///< for a thread there
    };

    void expect(Topology::Place place) const {
        if (place < neighbours_.size()) return;
        throw Error(fmt::format("place {} of a topology that has {}", place, neighbours_.size()),
                    "places are numbered from 0");
    }

    std::vector<std::vector<Topology::Place>> neighbours_;
    std::map<Topology::Place, Spot> spots_;
};

std::unique_ptr<Home> make_home(Node& node, Kind kind, Reader& parameters) {
    switch (kind) {
        case Kind::barrier:
            return std::make_unique<BarrierHome>(node, parameters);
        case Kind::synchronizer:
            return std::make_unique<SynchronizerHome>(node, parameters);
        case Kind::data:
            return std::make_unique<DataHome>(node, parameters);
        case Kind::port:
            return std::make_unique<PortHome>(node, parameters);
        case Kind::domain:
            return std::make_unique<DomainHome>(node, parameters);
        case Kind::topology:
            return std::make_unique<TopologyHome>(node, parameters);
    }
    throw runtime::MalformedMessage("it is for no kind of resource");
}

/// Those that live in one process.
class Homes final : public runtime::State<Node> {
public:
    explicit Homes(Node& node) : node_(node) {}
    bool keeps_node() const override { return true; }

    void on_request(const Asker& asker, Reader& request) {
        const std::string name = request.get_text();
        const auto kind = request.get<Kind>();
        const auto call = request.get<Call>();
        const auto arguments = request.get_rest();
        request.check();
        Entry& entry = entries_[name];
        if (call == Call::create) return create(entry, asker, name, kind, arguments);
        if (!entry.home)
            return entry.early.push_back({asker, kind, call, Bytes(arguments.begin(), arguments.end())});
        this->call(entry, name, {asker, kind, call, Bytes(arguments.begin(), arguments.end())});
    }

private:
    struct Called {
        Asker asker;
        Kind kind;
        Call call;
        Bytes arguments;
    };
    struct Entry {
        std::unique_ptr<Home> home;
        Kind kind = Kind::barrier;
        Bytes parameters;
        std::vector<Called> early;  ///< before it was created
    };

    void create(Entry& entry, const Asker& asker, const std::string& name, Kind kind,
                std::span<const std::byte> parameters) {
        if (entry.home) {
            expect_kind(entry, name, kind);
            if (!std::ranges::equal(entry.parameters, parameters))
                throw Error(fmt::format("the resource {} is created twice, with different parameters", name),
                            "create it once and find it elsewhere, or create it in the same way everywhere");
            return Requests::answer(node_, asker, {});
        }
        Reader reader(parameters);
        entry.home = make_home(node_, kind, reader);
        if (!reader.done()) throw runtime::MalformedMessage("a resource's parameters cannot be read");
        entry.kind = kind;
        entry.parameters.assign(parameters.begin(), parameters.end());
        Requests::answer(node_, asker, {});
        for (const Called& early : std::exchange(entry.early, {})) call(entry, name, early);
    }

    static void expect_kind(const Entry& entry, const std::string& name, Kind kind) {
        if (entry.kind == kind) return;
        throw Error(fmt::format("the resource {} is used as two kinds", name),
                    "give resources of different kinds different names");
    }

    static void call(Entry& entry, const std::string& name, const Called& called) {
        expect_kind(entry, name, called.kind);
        Reader arguments(called.arguments);
        entry.home->on_call(called.asker, called.call, arguments);
        if (!arguments.done()) throw runtime::MalformedMessage("a call's arguments cannot be read");
    }

    Node& node_;
    std::unordered_map<std::string, Entry> entries_;
};

const runtime::Handler resource_handler("messaging.resource", runtime::Handler::Kind::work,
                                        [](Node& node, NodeId from, std::span<const std::byte> message) {
                                            Requests::receive(node, from, message,
                                                              [&](const Asker& asker, Reader& request) {
                                                                  node.state<Homes>().on_request(asker,
                                                                                                 request);
                                                              });
                                        });

}  // namespace

namespace detail {

Writer members_of_barrier(std::uint32_t members) {
    if (members == 0) throw Error("a barrier has no members", "give it as many as threads will wait");
    return written(members);
}

Resource::Resource(Thread& self, Kind kind, std::string name, const Writer& parameters)
    : kind_(kind), name_(std::move(name)) {
    call(self, Call::create, parameters);
}

runtime::Parcel Resource::call(Thread& self, Call call, const Writer& arguments) const {
    Writer request;
    request.put_text(name_).put(kind_).put(call).put_bytes(arguments.bytes());
    Node& node = self.worker().node();
    runtime::Parcel answer;
    node.state<Requests>().ask(self.strand(), home_of_name(name_, node.topology()), resource_handler,
                               std::move(request), "the resource " + name_,
                               [&](Reader& reader) { answer = runtime::Parcel(reader.get_rest()); });
    return answer;
}

}  // namespace detail

}  // namespace heddle::messaging
