// Named settings as a person wrote them, each with its place, and the typed reading of them.
// Knows nothing of YAML: configs/ makes these, a workload or a policy declares and reads them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

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

/// One setting that a workload, policy or platform declares. `initial` is what holds where nobody states it;
/// empty (and not of kind text): what then holds follows from other settings, and whoever declared it asks
/// `stated` before it reads.
struct Setting {
    std::string name;
    SettingKind kind = SettingKind::text;
    std::string initial;
    std::string help;
    std::vector<std::string> choices = {};  ///< for SettingKind::choice
    double at_least = -1e308;               ///< for numbers of any kind, in base units (s, flop, byte)

    /// For an input path whose text may also name something that is no file, such as a generator: whether a
    /// text is a path. Null: every text is.
    bool (*names_file)(const std::string& text) = nullptr;
};

/// Declared settings with their values. Reading one that was not declared is our own mistake; a value that
/// does not parse, or lies below `at_least`, is the caller's: Error with the value's place.
class Settings {
public:
    explicit Settings(std::vector<Setting> declared = {});

    /// States a value. Throws Error for a name that was not declared (with the nearest one that was) and for
    /// a value of the wrong kind.
    void set(const std::string& name, const std::string& value, const Location& where = {});

    std::int64_t integer(std::string_view name) const;
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

private:
    struct Value {
        std::string text;
        Location where;
    };
    const Setting& find(std::string_view name) const;
    const std::string& raw(std::string_view name) const;

    std::vector<Setting> declared_;
    std::map<std::string, Value, std::less<>> values_;
};

/// The name in `known` that is nearest to `wrong` (edit distance), as advice: `did you mean "half"? known:
/// one, half`.
std::string nearest_advice(std::string_view wrong, const std::vector<std::string>& known);

}  // namespace heddle
