// Counts lines while nlohmann's parser reads, and stores every value with its line in a flat table.
#include "graphs/json_document.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

namespace heddle::graphs {

namespace {

constexpr std::size_t depth_max = 100;

/// Hands the text to the parser and counts lines as it goes. The parser reads one character beyond a number,
/// so a line break counts only once the character after it is read.
struct Cursor {
    int line = 1;
    bool after_break = false;
};

class CountingIterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    CountingIterator(const char* place, Cursor* cursor) : place_(place), cursor_(cursor) {}
    reference operator*() const { return *place_; }
    CountingIterator& operator++() {
        if (cursor_->after_break) ++cursor_->line;
        cursor_->after_break = *place_ == '\n';
        ++place_;
        return *this;
    }
    CountingIterator operator++(int) {
        const CountingIterator before = *this;
        ++*this;
        return before;
    }
    bool operator==(const CountingIterator& other) const { return place_ == other.place_; }

private:
    const char* place_;
    Cursor* cursor_;
};

}  // namespace

/// Writes the table as the parser calls.
class JsonBuilder {
public:
    using Kind = JsonValue::Kind;

    JsonBuilder(JsonDocument& document, const Cursor& cursor) : document_(document), cursor_(cursor) {}

    bool null() { return add(Kind::null); }
    bool boolean(bool value) {
        add(Kind::boolean);
        document_.entries_.back().number = value ? 1 : 0;
        return true;
    }
    bool number_integer(std::int64_t value) { return add_number(static_cast<double>(value)); }
    bool number_unsigned(std::uint64_t value) { return add_number(static_cast<double>(value)); }
    bool number_float(double value, const std::string&) { return add_number(value); }
    bool string(std::string& value) {
        add(Kind::text);
        JsonDocument::Entry& entry = document_.entries_.back();
        entry.text = document_.texts_.size();
        entry.text_bytes = static_cast<std::uint32_t>(value.size());
        document_.texts_ += value;
        return true;
    }
    bool binary(std::vector<std::uint8_t>&) { return false; }
    bool start_object(std::size_t) { return open(Kind::object); }
    bool start_array(std::size_t) { return open(Kind::list); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }
    bool key(std::string& name) {
        // Keys repeat, mostly in the same order: each is stored once as long as it is among the last few.
        for (const auto& [place, bytes] : recent_) {
            if (std::string_view(document_.texts_).substr(place, bytes) == name) {
                key_ = {place, bytes};
                return true;
            }
        }
        key_ = {document_.texts_.size(), static_cast<std::uint32_t>(name.size())};
        document_.texts_ += name;
        if (recent_.size() < recent_max) recent_.push_back(key_);
        return true;
    }
    bool parse_error(std::size_t, const std::string& token, const nlohmann::detail::exception& error) {
        const bool too_large = error.id == 406;
        throw Error(too_large ? fmt::format("{} is too large for a number", token)
                    : token.empty() || token.find("<U+0000>") != token.npos
                        ? "the file ends too early"
                        : fmt::format("this is not JSON, near `{}`", token),
                    too_large ? "numbers reach to 1e308"
                              : "it may be cut short, or a comma or bracket may be missing",
                    document_.source().at(cursor_.line));
    }

private:
    static constexpr std::size_t recent_max = 32;

    bool add(Kind kind) {
        JsonDocument::Entry entry;
        entry.kind = kind;
        entry.line = cursor_.line;
        entry.key = key_.first;
        entry.key_bytes = key_.second;
        entry.after = document_.entries_.size() + 1;
        document_.entries_.push_back(entry);
        key_ = {};
        return true;
    }
    bool add_number(double value) {
        add(Kind::number);
        document_.entries_.back().number = value;
        return true;
    }
    bool open(Kind kind) {
        if (open_.size() == depth_max) {
            throw Error(fmt::format("values are nested more than {} deep", depth_max), {},
                        document_.source().at(cursor_.line));
        }
        open_.push_back(document_.entries_.size());
        return add(kind);
    }
    bool close() {
        document_.entries_[open_.back()].after = document_.entries_.size();
        open_.pop_back();
        return true;
    }

    JsonDocument& document_;
    const Cursor& cursor_;
    std::pair<std::size_t, std::uint32_t> key_{};
    std::vector<std::pair<std::size_t, std::uint32_t>> recent_;
    std::vector<std::size_t> open_;
};

JsonDocument::JsonDocument(const SourceText& source) : source_(&source) {
    Cursor cursor;
    JsonBuilder builder(*this, cursor);
    const char* text = source.text.data();
    nlohmann::json::sax_parse(CountingIterator(text, &cursor),
                              CountingIterator(text + source.text.size(), &cursor), &builder);
}

JsonValue::Kind JsonValue::kind() const {
    return document_->entries_[index_].kind;
}

int JsonValue::line() const {
    return document_->entries_[index_].line;
}

Location JsonValue::where() const {
    return document_->source().at(line());
}

std::string_view JsonValue::key() const {
    const JsonDocument::Entry& entry = document_->entries_[index_];
    return std::string_view(document_->texts_).substr(entry.key, entry.key_bytes);
}

std::optional<JsonValue> JsonValue::find(std::string_view name) const {
    if (kind() != Kind::object) return std::nullopt;
    for (const JsonValue member : *this) {
        if (member.key() == name && member.kind() != Kind::null) return member;
    }
    return std::nullopt;
}

JsonValue JsonValue::at(std::string_view name, std::string_view whose) const {
    const auto member = find(name);
    if (!member) throw Error(fmt::format("{} has no \"{}\"", whose, name), {}, where());
    return *member;
}

void JsonValue::expect(Kind expected, std::string_view what) const {
    static constexpr const char* names[] = {"null",   "true or false", "a number",
                                            "a text", "a list",        "an object"};
    if (kind() == expected) return;
    throw Error(fmt::format("{} is {}, not {}", what, names[static_cast<int>(kind())],
                            names[static_cast<int>(expected)]),
                {}, where());
}

bool JsonValue::boolean() const {
    return kind() == Kind::boolean && document_->entries_[index_].number != 0;
}

double JsonValue::number(std::string_view what) const {
    expect(Kind::number, what);
    return document_->entries_[index_].number;
}

double JsonValue::weight(std::string_view what) const {
    const double value = number(what);
    if (value < 0)
        throw Error(fmt::format("{} is {}, which is negative", what, value), "weights are 0 or more",
                    where());
    return value;
}

std::string_view JsonValue::text(std::string_view what) const {
    expect(Kind::text, what);
    const JsonDocument::Entry& entry = document_->entries_[index_];
    return std::string_view(document_->texts_).substr(entry.text, entry.text_bytes);
}

JsonValue JsonValue::Iterator::operator*() const {
    return {document_, index_};
}

JsonValue::Iterator& JsonValue::Iterator::operator++() {
    index_ = document_->entries_[index_].after;
    return *this;
}

JsonValue::Iterator JsonValue::begin() const {
    const JsonDocument::Entry& entry = document_->entries_[index_];
    return {document_, entry.kind == Kind::list || entry.kind == Kind::object ? index_ + 1 : entry.after};
}

JsonValue::Iterator JsonValue::end() const {
    return {document_, document_->entries_[index_].after};
}

}  // namespace heddle::graphs
