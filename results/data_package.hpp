// The description of a folder's tables, datapackage.json, after the Data Package standard of Frictionless
// (specs.frictionlessdata.io, version 1): type, unit and meaning of each column.
#pragma once

#include <string>

namespace heddle::results {

/// Writes DIRECTORY/datapackage.json, which describes each known table that is there now. Equal tables give
/// equal bytes. Writes nothing where there is no table. Throws Error.
void write_data_package(const std::string& directory);

}  // namespace heddle::results
