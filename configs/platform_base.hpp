// Adds to an experiment the keys of the platform file that its `platform.from` names; the experiment's own
// keys win. It interprets no values.
#pragma once

#include <string>
#include <vector>

#include "configs/document.hpp"

namespace heddle::configs {

/// Adds to `platform` of the tree what the file of its `from` states and the tree does not. A key of the tree
/// wins, also inside a section. Each added value keeps its place in that file. Nothing without `from`. Throws
/// Error, with file and line, if the file cannot be read, is no platform, or builds on another file. Returns
/// the names of the file's kernels.
std::vector<std::string> add_platform_base(Value& root);

/// Writes `stealing: none` and `overheads: none` out, so that a key below can be set afterwards.
void expand_shorthands(Value& root);

/// Whether the dotted key with this value is one of these.
bool is_shorthand(const std::string& key, const Value& value);

}  // namespace heddle::configs
