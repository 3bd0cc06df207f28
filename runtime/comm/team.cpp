// The rounds of a team: its members on a node, the tree of nodes, and the messages between them.
#include "runtime/comm/team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"
#include "runtime/comm/wire.hpp"
#include "runtime/core/node.hpp"

namespace heddle::runtime {

/// The teams of one node, and messages for those that it has not made yet.
class TeamTable {
public:
    struct Early {
        NodeId child;
        std::uint64_t round;
        std::vector<std::byte> value;
    };

    std::vector<Early> open(std::uint64_t number, Team& team, NodeId node) {
        const SpinLock::Guard guard(lock_);
        if (!teams_.emplace(number, &team).second) {
            throw Error(fmt::format("node {} has a team {} already", node, number),
                        "give each team a number of its own");
        }
        const auto early = early_.extract(number);
        return early ? std::move(early.mapped()) : std::vector<Early>();
    }
    void close(std::uint64_t number) {
        const SpinLock::Guard guard(lock_);
        teams_.erase(number);
    }
    Team* find_or_keep(std::uint64_t number, NodeId child, std::uint64_t round,
                       std::span<const std::byte> value) {
        const SpinLock::Guard guard(lock_);
        if (const auto found = teams_.find(number); found != teams_.end()) return found->second;
        early_[number].push_back({child, round, {value.begin(), value.end()}});
        return nullptr;
    }
    std::uint64_t new_number(NodeId node) {
        const SpinLock::Guard guard(lock_);
        return (std::uint64_t{node} + 1) << 32 | numbers_++;
    }
    Team& at(std::uint64_t number) {
        const SpinLock::Guard guard(lock_);
        const auto found = teams_.find(number);
        if (found == teams_.end()) throw MalformedMessage("this node has no such team");
        return *found->second;
    }

private:
    SpinLock lock_;  ///< over all below
    std::unordered_map<std::uint64_t, Team*> teams_;
    std::unordered_map<std::uint64_t, std::vector<Early>> early_;
    std::uint32_t numbers_ = 0;  ///< given out here
};

namespace {

struct TeamMessage {
    std::uint64_t team;
    std::uint64_t round;
};

struct Teams final : State<Node> {
    explicit Teams(Node& /*node*/) {}
    bool keeps_node() const override { return true; }
    std::shared_ptr<TeamTable> table = std::make_shared<TeamTable>();
};

TeamTable& teams(Node& node) {
    return *node.state<Teams>().table;
}

const Handler child_handler("team.child", Handler::Kind::work, [](Node& node, NodeId from, auto message) {
    Reader reader(message);
    const auto header = reader.get<TeamMessage>();
    const auto value = reader.get_rest();
    reader.check();
    Team* const team = teams(node).find_or_keep(header.team, from, header.round, value);
    if (team) team->on_child(from, header.round, value);
});

const Handler release_handler("team.release", Handler::Kind::work, [](Node& node, NodeId, auto message) {
    Reader reader(message);
    const auto header = reader.get<TeamMessage>();
    const auto value = reader.get_rest();
    reader.check();
    teams(node).at(header.team).on_release(header.round, value);
});

}  // namespace

Team::Team(Node& node, std::uint64_t number, std::uint32_t members)
    : Team(node, number, members, node.topology().nodes) {}

Team::Team(Node& node, std::uint64_t number, std::uint32_t members, NodeId nodes, Shape shape)
    : node_(node),
      table_(node.state<Teams>().table),
      id_(node.id()),
      nodes_(nodes),
      number_(number),
      members_(members),
      shape_(shape),
      children_(count_children()) {
    HEDDLE_ASSERT(members > 0 && id_ < nodes);
    for (std::uint64_t first = 0; first < rounds_.size(); ++first) prepare(round(first), first);
    for (const TeamTable::Early& early : table_->open(number, *this, id_))
        on_child(early.child, early.round, early.value);
}

Team::~Team() {
    table_->close(number_);
}

std::uint64_t Team::new_number(Node& node) {
    return teams(node).new_number(node.id());
}

NodeId Team::count_children() const {
    NodeId count = 0;
    // In a tournament a node meets those above it up to its lowest bit: above node 4 come 5 and 6.
    const auto takes = [&](NodeId place) {
        return shape_ == Shape::tree ? place < arity : id_ == 0 || (id_ >> place & 1) == 0;
    };
    while (count < 32 && takes(count) && child(count) < nodes_) ++count;
    return count;
}

void Team::prepare(Round& round, std::uint64_t number) {
    round.number = number;
    round.children_missing = children_;
    round.from_children.resize(children_);
    round.here_complete = false;
    round.value_bytes = 0;
    round.apply = nullptr;
    released(number).reset();
    round.missing.store(members_, std::memory_order_release);
}

Event& Team::arrive(Worker& worker, std::uint32_t member, std::span<const std::byte> value, Apply apply) {
    const std::uint64_t number = door_.current.load(std::memory_order_acquire);
    Round& here = round(number);
    if (!value.empty()) {
        HEDDLE_ASSERT(member < members_);
        const SpinLock::Guard guard(lock_);
        here.apply = apply;
        here.value_bytes = value.size();
        here.values.resize(std::max(here.values.size(), value.size() * members_));
        std::memcpy(here.values.data() + member * value.size(), value.data(), value.size());
    }
    worker.charge(worker.costs->sync);
    const std::uint32_t missing = here.missing.fetch_sub(1, std::memory_order_acq_rel);
    if (missing == 0) [[unlikely]]
        too_many();
    // The last one goes on with what all others have written before.
    if (missing == 1) {
        // Every member has left the round before this one, because it has arrived at this one. Before the
        // node says so: the end of this round may reach a node below earlier than this one, and that node may
        // then arrive at the next round at once.
        if (number > 0) {
            const SpinLock::Guard guard(lock_);
            prepare(round(number + 1), number + 1);
        }
        for (std::uint32_t i = 1; here.apply && i < members_; ++i)
            here.apply(here.values.data(), here.values.data() + i * here.value_bytes);
        bool complete_now = false;
        {
            const SpinLock::Guard guard(lock_);
            here.here_complete = true;
            complete_now = here.children_missing == 0;
        }
        if (complete_now) complete(number, worker, worker.outbox());
    }
    return released(number);
}

void Team::too_many() const {
    throw Error(fmt::format("node {}: more threads come to a barrier or reduction than the {} members that "
                            "its team has here",
                            id_, members_),
                "a member arrives once in a round, and waits for the others");
}

std::span<const std::byte> Team::result_of(const Event& round) const {
    const Round& of = &door_.released[0] == &round ? rounds_[0] : rounds_[1];
    return {of.values.data(), of.value_bytes};
}

void Team::on_child(NodeId child, std::uint64_t number, std::span<const std::byte> value) {
    bool complete_now = false;
    {
        const SpinLock::Guard guard(lock_);
        Round& here = round(number);
        NodeId place = 0;
        while (place < children_ && this->child(place) != child) ++place;
        if (place == children_ || here.number != number || here.children_missing == 0)
            throw MalformedMessage("it belongs to no round of the team");
        here.from_children[place].assign(value.begin(), value.end());
        complete_now = --here.children_missing == 0 && here.here_complete;
    }
    if (complete_now) complete(number, node_.receiver(), node_.receiver_outbox());
}

/// All members of this node and of those below it have arrived. Only one context finds that out.
void Team::complete(std::uint64_t number, Context& caller, Outbox& outbox) {
    Round& here = round(number);
    for (NodeId place = 0; here.apply && place < children_; ++place) {
        if (here.from_children[place].size() != here.value_bytes)
            throw MalformedMessage("its value is not of the length of the others");
        here.apply(here.values.data(), here.from_children[place].data());
    }
    const std::span<const std::byte> value(here.values.data(), here.value_bytes);
    if (id_ == 0) return release(number, caller, outbox, value);
    outbox.post(parent(), child_handler, bytes_of(TeamMessage{number_, number}), Outbox::Urgency::now, value);
}

void Team::on_release(std::uint64_t number, std::span<const std::byte> value) {
    Round& here = round(number);
    {
        const SpinLock::Guard guard(lock_);
        if (here.number != number || value.size() != here.value_bytes)
            throw MalformedMessage("it ends no round of the team");
        if (!value.empty()) std::memcpy(here.values.data(), value.data(), value.size());
    }
    release(number, node_.receiver(), node_.receiver_outbox(), {here.values.data(), here.value_bytes});
}

void Team::release(std::uint64_t number, Context& caller, Outbox& outbox, std::span<const std::byte> value) {
    for (NodeId place = 0; place < arity && below(place) < nodes_; ++place) {
        outbox.post(below(place), release_handler, bytes_of(TeamMessage{number_, number}),
                    Outbox::Urgency::now, value);
    }
    door_.current.store(number + 1, std::memory_order_release);
    released(number).complete(node_, caller);
}

}  // namespace heddle::runtime
