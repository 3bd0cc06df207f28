// A table of messages that wait for a receive, or of receives that wait for a message. It finds the oldest by
// source, by tag, by both or by neither. Each operation takes constant time, however many items wait. While
// they are few, they are in one list, which is faster to go through than tables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

namespace heddle::runtime {

/// What a receive takes: nothing given means any.
struct Match {
    std::optional<std::uint64_t> source{};
    std::optional<std::uint64_t> tag{};
};

namespace detail {

/// Which of the two a list is for.
enum class Key : std::uint8_t { any, source, tag, both };
inline constexpr std::size_t keys = 4;

/// So many items are in one list.
inline constexpr std::size_t few = 8;

/// A table with at most so many lists keeps empty ones: most sources and tags come again.
inline constexpr std::size_t empty_max = 64;

inline Key key_of(const Match& match) {
    if (match.source) return match.tag ? Key::both : Key::source;
    return match.tag ? Key::tag : Key::any;
}

struct KeyValue {
    Key key;
    std::uint64_t source;  ///< 0 where the key has none
    std::uint64_t tag;

    bool operator==(const KeyValue&) const = default;

    bool matches(std::uint64_t its_source, std::uint64_t its_tag) const {
        return (key == Key::any || key == Key::tag || source == its_source) &&
               (key == Key::any || key == Key::source || tag == its_tag);
    }
};

inline KeyValue value_of(Key key, std::uint64_t source, std::uint64_t tag) {
    const bool by_source = key == Key::source || key == Key::both;
    const bool by_tag = key == Key::tag || key == Key::both;
    return {key, by_source ? source : 0, by_tag ? tag : 0};
}
inline KeyValue value_of(const Match& match) {
    return {key_of(match), match.source.value_or(0), match.tag.value_or(0)};
}

struct KeyHash {
    std::size_t operator()(const KeyValue& value) const {
        // Multiplied by odd numbers with bits everywhere, so that neighbouring tags lie apart.
        std::uint64_t hash = value.source * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(value.key);
        hash = (hash ^ hash >> 32U) * 0xd6e8feb86659fd93U + value.tag;
        hash = (hash ^ hash >> 32U) * 0xd6e8feb86659fd93U;
        return hash ^ hash >> 32U;
    }
};

}  // namespace detail

/// An item of a table; derive from it. In at most one table, which does not own it.
struct Matched {
    Matched() = default;
    Matched(std::uint64_t its_source, std::uint64_t its_tag) : source(its_source), tag(its_tag) {}

    std::uint64_t source = 0;
    std::uint64_t tag = 0;

private:
    friend class MatchedList;
    friend class Messages;
    friend class Receives;
    struct Link {
        Matched* before = nullptr;
        Matched* after = nullptr;
    };
    std::array<Link, detail::keys> links_;
    std::uint64_t number_ = 0;
    detail::Key wanted_ = detail::Key::any;  ///< of a receive
};

/// Items in the order in which they were put. An item may be in a list for each key.
class MatchedList {
public:
    bool empty() const { return first_ == nullptr; }
    Matched* first() const { return first_; }
    static Matched* after(detail::Key key, const Matched& item) {
        return item.links_[static_cast<std::size_t>(key)].after;
    }

    void append(detail::Key key, Matched& item) {
        const auto k = static_cast<std::size_t>(key);
        item.links_[k] = {last_, nullptr};
        (last_ ? last_->links_[k].after : first_) = &item;
        last_ = &item;
    }
    void unlink(detail::Key key, const Matched& item) {
        const auto k = static_cast<std::size_t>(key);
        const Matched::Link link = item.links_[k];
        (link.before ? link.before->links_[k].after : first_) = link.after;
        (link.after ? link.after->links_[k].before : last_) = link.before;
    }

private:
    Matched* first_ = nullptr;
    Matched* last_ = nullptr;
};

/// All items of a table, which also has tables of them while they are many.
class AllMatched {
public:
    Matched* first() const { return list_.first(); }
    std::size_t size() const { return size_; }
    /// Whether all items are in the tables.
    bool indexed() const { return indexed_; }

    /// `index` puts an item into the tables.
    template <class Index>
    void put(Matched& item, const Index& index) {
        list_.append(detail::Key::any, item);
        ++size_;
        if (indexed_) return index(item);
        if (size_ <= detail::few) return;
        indexed_ = true;
        for (Matched* one = first(); one; one = MatchedList::after(detail::Key::any, *one)) index(*one);
    }
    /// Returns whether it is to leave the tables as well.
    bool remove(const Matched& item) {
        list_.unlink(detail::Key::any, item);
        --size_;
        const bool was_indexed = indexed_;
        indexed_ = indexed_ && size_ != 0;
        return was_indexed;
    }

private:
    MatchedList list_;
    std::size_t size_ = 0;
    bool indexed_ = false;
};

/// Messages that no receive has taken: all of them in one list, and where they are many, also in three lists
/// by their source and tag.
class Messages {
public:
    void put(Matched& message) {
        all_.put(message, [this](Matched& one) { index(one); });
    }

    /// The oldest that matches, or null. It stays.
    Matched* find(const Match& match) const {
        if (!all_.first()) return nullptr;
        const detail::KeyValue wanted = detail::value_of(match);
        if (wanted.key == detail::Key::any) return all_.first();
        if (!all_.indexed()) {
            Matched* one = all_.first();
            while (one && !wanted.matches(one->source, one->tag))
                one = MatchedList::after(detail::Key::any, *one);
            return one;
        }
        const auto found = lists_.find(wanted);
        return found == lists_.end() ? nullptr : found->second.first();
    }

    void remove(Matched& message) {
        if (!all_.remove(message)) return;
        for (const detail::Key key : indices) {
            const auto list = lists_.find(detail::value_of(key, message.source, message.tag));
            list->second.unlink(key, message);
            if (list->second.empty() && lists_.size() > detail::empty_max) lists_.erase(list);
        }
    }

    std::size_t size() const { return all_.size(); }

private:
    static constexpr std::array indices{detail::Key::source, detail::Key::tag, detail::Key::both};

    void index(Matched& message) {
        for (const detail::Key key : indices)
            lists_[detail::value_of(key, message.source, message.tag)].append(key, message);
    }

    AllMatched all_;
    std::unordered_map<detail::KeyValue, MatchedList, detail::KeyHash> lists_;
};

/// Receives that wait: all of them in one list, and where they are many, each also in that of those that want
/// the same.
class Receives {
public:
    void put(Matched& receive, const Match& match) {
        receive.source = match.source.value_or(0);
        receive.tag = match.tag.value_or(0);
        receive.wanted_ = detail::key_of(match);
        receive.number_ = next_++;
        all_.put(receive, [this](Matched& one) { index(one); });
    }

    /// Takes the oldest that wants such a message, or null.
    Matched* take(std::uint64_t source, std::uint64_t tag) {
        Matched* oldest = nullptr;
        if (all_.indexed()) {
            for (std::size_t key = 0; key < detail::keys; ++key) {
                if (of_key_[key] == 0) continue;
                const auto found = lines_.find(detail::value_of(static_cast<detail::Key>(key), source, tag));
                if (found == lines_.end() || found->second.empty()) continue;
                Matched* const first = found->second.first();
                if (!oldest || first->number_ < oldest->number_) oldest = first;
            }
        } else {
            oldest = all_.first();
            while (oldest && !wanted_by(*oldest).matches(source, tag))
                oldest = MatchedList::after(detail::Key::any, *oldest);
        }
        if (oldest) remove(*oldest);
        return oldest;
    }

    /// One that waits.
    void remove(Matched& receive) {
        if (!all_.remove(receive)) return;
        const auto line = lines_.find(wanted_by(receive));
        line->second.unlink(detail::Key::both, receive);
        --of_key_[static_cast<std::size_t>(receive.wanted_)];
        if (line->second.empty() && lines_.size() > detail::empty_max) lines_.erase(line);
    }

private:
    static detail::KeyValue wanted_by(const Matched& receive) {
        return {receive.wanted_, receive.source, receive.tag};
    }
    void index(Matched& receive) {
        lines_[wanted_by(receive)].append(detail::Key::both, receive);
        ++of_key_[static_cast<std::size_t>(receive.wanted_)];
    }

    AllMatched all_;
    std::unordered_map<detail::KeyValue, MatchedList, detail::KeyHash> lines_;
    std::array<std::size_t, detail::keys> of_key_{};
    std::uint64_t next_ = 0;
};

}  // namespace heddle::runtime
