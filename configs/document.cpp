// Builds the tree of a YAML document from yaml-cpp's events, which carry lines, and refuses what is
// ambiguous.
#include "configs/document.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "base/input_file.hpp"

namespace heddle::configs {

namespace {

/// Length of the well-formed UTF-8 sequence at `bytes`; 0 where there is none (RFC 3629).
std::size_t utf8_length(const std::string& text, std::size_t i) {
    const auto byte = [&](std::size_t k) {
        return i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0U;
    };
    const auto follows = [&](std::size_t k, unsigned low = 0x80, unsigned high = 0xBF) {
        return byte(k) >= low && byte(k) <= high;
    };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        const bool second = first == 0xE0   ? follows(1, 0xA0)
                            : first == 0xED ? follows(1, 0x80, 0x9F)
                                            : follows(1);
        return second && follows(2) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const bool second = first == 0xF0   ? follows(1, 0x90)
                            : first == 0xF4 ? follows(1, 0x80, 0x8F)
                                            : follows(1);
        return second && follows(2) && follows(3) ? 4 : 0;
    }
    return 0;
}

/// Builds the tree from the parser's events.
class Builder final : public YAML::EventHandler {
public:
    explicit Builder(std::string file) : file_(std::move(file)) {}

    Value take_root() { return std::move(root_); }
    bool has_document() const { return documents_ > 0; }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (++documents_ > 1) {
            throw Error("a second document begins here", "a configuration is one document; remove the `---`",
                        at(mark));
        }
    }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        add(make(Value::Kind::null, mark), anchor);
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& text) override {
        refuse_tag(tag, mark);
        Value value = make(Value::Kind::scalar, mark);
        value.text = text;
        refuse_bytes(value);
        value.quoted = tag == "!";
        if (expects_key()) {
            set_key(value);
            return;
        }
        add(std::move(value), anchor);
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto meant = anchors_.find(anchor);
        if (meant == anchors_.end()) {
            throw Error("this alias refers to a value that it is part of", "an alias comes after its anchor",
                        at(mark));
        }
        Value copy = meant->second;
        copy.where = at(mark);
        count(copy);
        add(std::move(copy), YAML::NullAnchor);
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value /*style*/) override {
        open(Value::Kind::list, mark, tag, anchor);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value /*style*/) override {
        open(Value::Kind::mapping, mark, tag, anchor);
    }
    void OnMapEnd() override { close(); }

private:
    /// A list or mapping that is not closed yet.
    struct Open {
        Value value;
        YAML::anchor_t anchor;
        std::string key;
        Location key_where;
        bool has_key = false;
    };

    Location at(const YAML::Mark& mark) const { return {file_, mark.line + 1}; }

    Value make(Value::Kind kind, const YAML::Mark& mark) {
        Value value;
        value.kind = kind;
        value.where = at(mark);
        count(value);
        return value;
    }

    /// Aliases make exponentially many values out of a few lines.
    void count(const Value& value) {
        if (++values_ > document_values_max) {
            throw Error("too many values", fmt::format("a configuration has {} at most", document_values_max),
                        value.where);
        }
        for (const Value& child : value.children) count(child);
    }

    /// The file is UTF-8, but yaml-cpp makes single bytes of two escapes.
    static void refuse_bytes(const Value& scalar) {
        for (std::size_t i = 0; i < scalar.text.size();) {
            const std::size_t length = utf8_length(scalar.text, i);
            if (length == 0)
                throw Error("the escape \\N or \\_", R"(write "\u0085" or "\u00a0")", scalar.where);
            i += length;
        }
    }

    void refuse_tag(const std::string& tag, const YAML::Mark& mark) const {
        if (tag.empty() || tag == "?" || tag == "!") return;
        throw Error(fmt::format("the tag {}", tag), "leave tags out; the key decides what a value is",
                    at(mark));
    }

    bool expects_key() const {
        return !open_.empty() && open_.back().value.kind == Value::Kind::mapping && !open_.back().has_key;
    }

    void set_key(const Value& key) {
        Open& mapping = open_.back();
        if (const Value* twin = mapping.value.find(key.text)) {
            throw Error(fmt::format("duplicate key \"{}\"", key.text),
                        fmt::format("it is already stated in line {}", twin->key_where.line), key.where);
        }
        mapping.key = key.text;
        mapping.key_where = key.where;
        mapping.has_key = true;
    }

    void add(Value value, YAML::anchor_t anchor) {
        if (expects_key()) {
            throw Error("a key that is not a name", "write `key: value`, with a space after the colon",
                        value.where);
        }
        if (!open_.empty() && open_.back().has_key) {
            value.key = std::move(open_.back().key);
            value.key_where = open_.back().key_where;
            open_.back().has_key = false;
        }
        if (anchor != YAML::NullAnchor) anchors_[anchor] = value;
        if (open_.empty()) {
            root_ = std::move(value);
        } else {
            open_.back().value.children.push_back(std::move(value));
        }
    }

    void open(Value::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
        refuse_tag(tag, mark);
        Value value = make(kind, mark);
        if (expects_key()) {
            throw Error("a key that is not a name", "a key is a single word; is a bracket open?",
                        value.where);
        }
        open_.push_back({std::move(value), anchor, {}, {}});
    }

    void close() {
        Open done = std::move(open_.back());
        open_.pop_back();
        add(std::move(done.value), done.anchor);
    }

    std::string file_;
    Value root_;
    std::vector<Open> open_;
    std::map<YAML::anchor_t, Value> anchors_;
    std::size_t values_ = 0;
    int documents_ = 0;
};

void refuse_what_is_not_text(const std::string& text, const std::string& file) {
    int line = 1;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = utf8_length(text, i);
        const auto c = static_cast<unsigned char>(text[i]);
        if (length == 0 || (c < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7F) {
            throw Error(fmt::format("the byte {:#04x} is not text", c), "a configuration is UTF-8 text",
                        {file, line});
        }
        if (c == '\n') ++line;
        i += length;
    }
}

/// Whether line number `line`, from 1, is indented with a tab.
bool has_tab(const std::string& text, int line) {
    std::istringstream lines(text);
    std::string current;
    for (int i = 0; i < line && std::getline(lines, current); ++i) {
    }
    const std::size_t first = current.find_first_not_of(" \t");
    return current.substr(0, first == std::string::npos ? current.size() : first).find('\t') !=
           std::string::npos;
}

Value parse(const std::string& text, const std::string& file, bool& empty) {
    if (text.size() > document_bytes_max) {
        throw Error(fmt::format("a configuration of {} bytes", text.size()),
                    fmt::format("it may have {} at most", document_bytes_max), {file, 0});
    }
    refuse_what_is_not_text(text, file);
    try {
        std::istringstream stream(text);
        YAML::Parser parser(stream);
        Builder builder(file);
        while (parser.HandleNextDocument(builder)) {
        }
        empty = !builder.has_document();
        return builder.take_root();
    } catch (const YAML::ParserException& error) {
        const int line = error.mark.is_null() ? 0 : error.mark.line + 1;
        const bool tab = has_tab(text, line) || has_tab(text, line - 1);
        throw Error(
            "not valid YAML: " + error.msg,
            tab ? "indent with spaces: YAML has no tabs" : "check colons, brackets and indentation nearby",
            {file, line});
    } catch (const YAML::Exception& error) {
        throw Error("not valid YAML: " + error.msg, "check colons, brackets and indentation", {file, 0});
    }
}

void move_to(Value& value, const Location& where) {
    value.where = where;
    value.key_where = where;
    for (Value& child : value.children) move_to(child, where);
}

}  // namespace

const Value* Value::find(const std::string& entry_key) const {
    const auto found = std::find_if(children.begin(), children.end(),
                                    [&entry_key](const Value& child) { return child.key == entry_key; });
    return kind == Kind::mapping && found != children.end() ? &*found : nullptr;
}

Value* Value::find(const std::string& entry_key) {
    return const_cast<Value*>(std::as_const(*this).find(entry_key));
}

std::string Value::described() const {
    switch (kind) {
        case Kind::null:
            return "nothing";
        case Kind::list:
            return "a list";
        case Kind::mapping:
            return "a mapping";
        case Kind::scalar:
            break;
    }
    constexpr std::size_t shown = 60;
    const std::string start = text.size() <= shown ? text : text.substr(0, shown) + "...";
    return quoted ? fmt::format("the text \"{}\"", start) : fmt::format("`{}`", start);
}

Value parse_document(const std::string& text, const std::string& file, const std::string& example) {
    bool empty = false;
    Value root = parse(text, file, empty);
    if (empty || root.kind == Value::Kind::null) {
        throw Error("nothing in it", "is it the right file? it begins like " + example, {file, 0});
    }
    if (root.kind != Value::Kind::mapping) {
        throw Error(fmt::format("expected keys with values, found {}", root.described()),
                    "is it the right file? it begins like " + example, root.where);
    }
    return root;
}

Value parse_value(const std::string& text, const Location& where) {
    try {
        bool empty = false;
        Value value = parse(text, where.file, empty);
        move_to(value, where);
        return value;
    } catch (const Error& error) {
        throw Error(error.message(), error.advice(), where);
    }
}

std::string read_text_file(const std::string& path) {
    return read_input(path, {document_bytes_max, document_bytes_max, false});
}

}  // namespace heddle::configs
