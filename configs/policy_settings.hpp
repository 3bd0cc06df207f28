// The settings that a stealing policy declares: keys of `schedule.stealing` beside those of all policies.
// Which of them exist depends on the policy that the experiment names.
#pragma once

#include <string>
#include <vector>

#include "configs/fields.hpp"

namespace heddle::configs {

/// Gives the experiment a policy, with its settings at their defaults; if it has this policy already, nothing
/// changes. Throws Error for an unknown name, and for a policy whose settings have names of common keys.
void choose_policy(Experiment& experiment, const std::string& name);

/// Whether a registered policy declares a setting of this dotted key.
bool is_policy_setting(const std::string& key);

/// The dotted keys of a policy's settings, in the order of declaration.
std::vector<std::string> policy_keys(const std::string& policy);

/// States the setting of this dotted key. Throws Error if the experiment's policy does not declare it.
void read_policy_setting(Experiment& experiment, const std::string& key, const Value& value);

/// States a declared setting of `settings`, whose keys in the file begin with `section`. Throws Error with
/// the place of the value, or of the key if it is unknown.
void read_setting(Settings& settings, const std::string& section, const std::string& name,
                  const Value& value);

}  // namespace heddle::configs
