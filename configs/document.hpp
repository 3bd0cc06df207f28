// Reads a YAML document as a tree in which every value has its line. Strict: one document, no duplicate keys,
// no tags, limited size. The keys have no meaning here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace heddle::configs {

struct Value {
    enum class Kind : std::uint8_t { null, scalar, list, mapping };

    Kind kind = Kind::null;
    std::string text;             ///< of a scalar
    bool quoted = false;          ///< a scalar in quotes is text, whatever it looks like
    std::vector<Value> children;  ///< of a list or mapping, in the order of the file
    Location where;
    std::string key;     ///< where the value is an entry of a mapping
    Location key_where;  ///< of that key

    /// The entry of a mapping, or null.
    const Value* find(const std::string& entry_key) const;
    Value* find(const std::string& entry_key);

    /// What it is, for errors: `a list`, or the text.
    std::string described() const;
};

/// The largest file, and the most values (anchors expanded), that a configuration may have.
inline constexpr std::size_t document_bytes_max = std::size_t{1} << 20;
inline constexpr std::size_t document_values_max = 100'000;

/// Reads a document whose root is a mapping. `file` and `example`, how such a document begins, are for
/// errors. Throws Error for everything that is not such a document.
Value parse_document(const std::string& text, const std::string& file,
                     const std::string& example = "`workload: {name: fib}`");

/// Reads a single value, as the text after `--set KEY=`. All of it is at `where`.
Value parse_value(const std::string& text, const Location& where);

/// The text of a file. Throws Error where it cannot be read or is too large.
std::string read_text_file(const std::string& path);

}  // namespace heddle::configs
