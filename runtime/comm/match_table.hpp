// A table of messages that wait for a receive, or of receives that wait for a message. It finds the oldest by
// source, by tag, by both or by neither. Each operation takes constant time, however many items wait.
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
};

inline KeyValue value_of(Key key, std::uint64_t source, std::uint64_t tag) {
    const bool by_source = key == Key::source || key == Key::both;
    const bool by_tag = key == Key::tag || key == Key::both;
    return {key, by_source ? source : 0, by_tag ? tag : 0};
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

/// Messages that no receive has taken, each in four lists.
class Messages {
public:
    void put(Matched& message) {
        for (std::size_t key = 0; key < detail::keys; ++key)
            append(lists_[value_of(static_cast<detail::Key>(key), message)], key, message);
        ++size_;
    }

    /// The oldest that matches, or null. It stays.
    Matched* find(const Match& match) const {
        const auto found = lists_.find(
            detail::value_of(detail::key_of(match), match.source.value_or(0), match.tag.value_or(0)));
        return found == lists_.end() ? nullptr : found->second.first;
    }

    void remove(Matched& message) {
        for (std::size_t key = 0; key < detail::keys; ++key) {
            const auto list = lists_.find(value_of(static_cast<detail::Key>(key), message));
            unlink(list->second, key, message);
            if (!list->second.first && lists_.size() > detail::empty_max) lists_.erase(list);
        }
        --size_;
    }

    std::size_t size() const { return size_; }

private:
    struct List {
        Matched* first = nullptr;
        Matched* last = nullptr;
    };
    static detail::KeyValue value_of(detail::Key key, const Matched& item) {
        return detail::value_of(key, item.source, item.tag);
    }
    static void append(List& list, std::size_t key, Matched& item) {
        item.links_[key] = {list.last, nullptr};
        (list.last ? list.last->links_[key].after : list.first) = &item;
        list.last = &item;
    }
    static void unlink(List& list, std::size_t key, const Matched& item) {
        const Matched::Link link = item.links_[key];
        (link.before ? link.before->links_[key].after : list.first) = link.after;
        (link.after ? link.after->links_[key].before : list.last) = link.before;
    }

    std::unordered_map<detail::KeyValue, List, detail::KeyHash> lists_;
    std::size_t size_ = 0;
};

/// Receives that wait, each in one list.
class Receives {
public:
    void put(Matched& receive, const Match& match) {
        receive.source = match.source.value_or(0);
        receive.tag = match.tag.value_or(0);
        receive.wanted_ = detail::key_of(match);
        receive.number_ = next_++;
        Line& line = lines_[detail::value_of(receive.wanted_, receive.source, receive.tag)];
        receive.links_[0].after = nullptr;
        (line.last ? line.last->links_[0].after : line.first) = &receive;
        line.last = &receive;
        ++of_key_[static_cast<std::size_t>(receive.wanted_)];
    }

    /// Takes the oldest that wants such a message, or null.
    Matched* take(std::uint64_t source, std::uint64_t tag) {
        Matched* oldest = nullptr;
        for (std::size_t key = 0; key < detail::keys; ++key) {
            if (of_key_[key] == 0) continue;
            const auto found = lines_.find(detail::value_of(static_cast<detail::Key>(key), source, tag));
            if (found == lines_.end() || !found->second.first) continue;
            Matched* const first = found->second.first;
            if (!oldest || first->number_ < oldest->number_) oldest = first;
        }
        if (!oldest) return nullptr;
        const auto line = lines_.find(detail::value_of(oldest->wanted_, oldest->source, oldest->tag));
        line->second.first = oldest->links_[0].after;
        end(line);
        --of_key_[static_cast<std::size_t>(oldest->wanted_)];
        return oldest;
    }

    /// One that waits. It is looked for among those that want the same.
    void remove(Matched& receive) {
        const auto line = lines_.find(detail::value_of(receive.wanted_, receive.source, receive.tag));
        Matched* before = nullptr;
        for (Matched* one = line->second.first; one != &receive; one = one->links_[0].after) before = one;
        Matched* const after = receive.links_[0].after;
        (before ? before->links_[0].after : line->second.first) = after;
        if (!after) line->second.last = before;
        end(line);
        --of_key_[static_cast<std::size_t>(receive.wanted_)];
    }

private:
    struct Line {
        Matched* first = nullptr;
        Matched* last = nullptr;
    };

    using Lines = std::unordered_map<detail::KeyValue, Line, detail::KeyHash>;
    void end(Lines::iterator line) {
        if (line->second.first) return;
        line->second.last = nullptr;
        if (lines_.size() > detail::empty_max) lines_.erase(line);
    }

    Lines lines_;
    std::array<std::size_t, detail::keys> of_key_{};
    std::uint64_t next_ = 0;
};

}  // namespace heddle::runtime
