// The settings of workloads whose threads exchange messages: what carries the messages
// (model/messaging/dispatcher.hpp).
#pragma once

#include <optional>
#include <vector>

#include "base/settings.hpp"
#include "model/messaging/dispatcher_settings.hpp"

namespace heddle::workloads {

/// Those of the workload, and those of the dispatcher.
std::vector<Setting> with_dispatcher(std::vector<Setting> settings);

/// None: endpoints of the core carry the messages.
std::optional<messaging::DispatcherSettings> dispatcher_of(const Settings& settings);

}  // namespace heddle::workloads
