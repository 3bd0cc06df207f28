// Reads a JSON file into values that have their lines, which nlohmann's library does not store. The values
// are in a flat table, so that graphs of millions of tasks fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graphs/source_text.hpp"

namespace heddle::graphs {

class JsonDocument;

/// One value of a document, which must outlive it.
class JsonValue {
public:
    enum class Kind : std::uint8_t { null, boolean, number, text, list, object };

    Kind kind() const;
    int line() const;
    Location where() const;
    std::string_view key() const;  ///< its name in the object that it belongs to; empty in a list

    /// A member of an object; none where it is absent, or null, or this is no object.
    std::optional<JsonValue> find(std::string_view name) const;

    /// The same, and an Error where it is absent. `whose` is named in it.
    JsonValue at(std::string_view name, std::string_view whose) const;

    // The value as what it should be. `what` is named in the Error where it is not.
    double number(std::string_view what) const;
    double weight(std::string_view what) const;  ///< a number that is 0 or more
    std::string_view text(std::string_view what) const;
    bool boolean() const;  ///< false for anything but true
    void expect(Kind kind, std::string_view what) const;

    /// The values of a list or an object, in order; empty for anything else.
    class Iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = JsonValue;
        using difference_type = std::ptrdiff_t;
        using pointer = void;
        using reference = JsonValue;

        Iterator(const JsonDocument* document, std::size_t index) : document_(document), index_(index) {}
        JsonValue operator*() const;
        Iterator& operator++();
        bool operator==(const Iterator& other) const { return index_ == other.index_; }

    private:
        const JsonDocument* document_;
        std::size_t index_;
    };
    Iterator begin() const;
    Iterator end() const;

private:
    friend class JsonDocument;
    JsonValue(const JsonDocument* document, std::size_t index) : document_(document), index_(index) {}

    const JsonDocument* document_;
    std::size_t index_;
};

class JsonDocument {
public:
    /// Throws Error for text that is not JSON, a number beyond the range of numbers, and deep nesting.
    explicit JsonDocument(const SourceText& source);

    JsonValue root() const { return {this, 0}; }
    const SourceText& source() const { return *source_; }

private:
    friend class JsonValue;
    friend class JsonValue::Iterator;
    friend class JsonBuilder;

    /// A value; those that it contains follow it, up to `after`.
    struct Entry {
        JsonValue::Kind kind = JsonValue::Kind::null;
        int line = 0;
        std::uint32_t key_bytes = 0;
        std::uint32_t text_bytes = 0;
        std::size_t key = 0;    ///< place in `texts_`
        std::size_t after = 0;  ///< index of the entry after this one and all that it contains
        double number = 0;
        std::size_t text = 0;
    };

    const SourceText* source_;
    std::vector<Entry> entries_;
    std::string texts_;
};

}  // namespace heddle::graphs
