// Named settings as a caller states them, each with its place, and the typed reading of them. A value is
// checked against the range of its setting before any code reads it.
// Knows nothing of YAML: configs/ makes these, a workload or a policy declares and reads them.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/error.hpp"
#include "base/time.hpp"

namespace heddle {

enum class SettingKind : std::uint8_t {
    integer,
    number,
    text,
    boolean,
    time,
    flops,
    bytes,
    choice,
    input_path,  ///< a file that the run reads
    output_path  ///< a file that the run writes
};

/// The largest number of an integer setting: up to 2^53 every whole number is also a double, as JSON needs.
inline constexpr double integer_max = 9007199254740992.0;

/// The most work that a setting of kind `flops` may declare: times and sums of times stay finite.
inline constexpr double flops_max = 1e18;

/// One setting that a workload, policy or platform declares. `initial` holds if the caller states no value.
/// If `initial` is empty (and the kind is not text), the value follows from other settings, and the declaring
/// code must ask `stated` before it reads.
struct Setting {
    std::string name;
    SettingKind kind = SettingKind::text;
    std::string initial;
    std::string help;
    std::vector<std::string> choices = {};  ///< for SettingKind::choice
    double at_least = -1e308;               ///< for numbers of any kind, in base units (s, flop, byte)
    double at_most = 1e308;                 ///< the same; integers must declare both

    /// For an input path whose text may also name something that is no file, such as a generator: whether a
    /// text is a path. Null: every text is.
    bool (*names_file)(const std::string& text) = nullptr;
};

/// A whole number from `least` to `most`, both within 2^53. Throws Error, with the range as advice, for any
/// other text: the one place where a caller's text becomes an integer.
std::int64_t parse_integer(std::string_view text, double least, double most);

/// The range of a setting in words, as `0 to 78` or `1Kf or more`; empty for kinds that have none.
std::string range_in_words(const Setting& setting);

/// The same of whole numbers.
std::string range_in_words(double least, double most);

/// Declared settings with their values. Reading one that was not declared is our own mistake; a value that
/// does not parse, or lies outside its range, is the caller's: Error with the value's place.
class Settings {
public:
    /// The caller must give each integer setting a range within 2^53.
    explicit Settings(std::vector<Setting> declared = {});

    /// States a value. Throws Error for a name that was not declared (with the nearest one that was) and for
    /// a value of the wrong kind.
    void set(const std::string& name, const std::string& value, const Location& where = {});

    /// A whole number as a T, which must hold the declared range: so the conversion cannot cut.
    template <std::integral T = std::int64_t>
    T integer(std::string_view name) const {
        const Setting& setting = find(name);
        HEDDLE_ASSERT(fits<T>(setting.at_least) && fits<T>(setting.at_most));
        return static_cast<T>(whole(setting));
    }
    double number(std::string_view name) const;  ///< also flops and bytes, in flop and byte
    std::string text(std::string_view name) const;
    bool boolean(std::string_view name) const;
    Time time(std::string_view name) const;

    /// The file of an input or output path as the caller can open it (base/paths.hpp); empty if none is
    /// stated.
    std::string path(std::string_view name) const;

    /// The files that the settings name and that the run reads (`input_path`), in the order of declaration.
    std::vector<std::string> input_files() const;

    bool stated(std::string_view name) const;
    Location where(std::string_view name) const;
    const std::vector<Setting>& declared() const { return declared_; }

    /// Whether a bound is a number of type T.
    template <std::integral T>
    static constexpr bool fits(double bound) {
        return bound >= -integer_max && bound <= integer_max &&
               std::in_range<T>(static_cast<std::int64_t>(bound));
    }

private:
    struct Value {
        std::string text;
        Location where;
    };
    std::int64_t whole(const Setting& setting) const;
    const Setting& find(std::string_view name) const;
    const std::string& raw(std::string_view name) const;

    std::vector<Setting> declared_;
    std::map<std::string, Value, std::less<>> values_;
};

/// The name in `known` that is nearest to `wrong` (edit distance), as advice: `did you mean "half"? known:
/// one, half`.
std::string nearest_advice(std::string_view wrong, const std::vector<std::string>& known);

}  // namespace heddle
