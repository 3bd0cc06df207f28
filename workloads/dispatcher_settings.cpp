// Declares the settings of what carries the messages of threads, for workloads.
#include "workloads/dispatcher_settings.hpp"

#include <utility>

namespace heddle::workloads {

std::vector<Setting> with_dispatcher(std::vector<Setting> settings) {
    for (Setting& setting : std::vector<Setting>{
             {"carrier",
              SettingKind::choice,
              "endpoints",
              "what carries the messages: endpoints of the core, or dispatchers as in the pCoR paper, which "
              "the "
              "settings below are about",
              {"endpoints", "dispatcher"}},
             {"fragment", SettingKind::bytes, "64KiB", "the largest fragment, with its header", {}, 64, 1e9},
             {"header", SettingKind::bytes, "40B", "of each fragment", {}, 40, 1e6},
             {"fragments", SettingKind::integer, "32", "of a message at most", {}, 1, 1e9},
             {"control_blocks",
              SettingKind::integer,
              "1024",
              "messages that may wait at a process for their receives",
              {},
              1,
              1e7},
             {"send_buffers",
              SettingKind::integer,
              "64",
              "fragments of a process under way at once",
              {},
              1,
              1e7},
             {"wake",
              SettingKind::choice,
              "one",
              "which of the threads that wait in receives a message wakes: the one that takes it, or all",
              {"one", "all"}},
             {"retry",
              SettingKind::time,
              "100us",
              "from a refusal, for want of a control block, until the fragment is sent again",
              {},
              0,
              3600}})
        settings.push_back(std::move(setting));
    return settings;
}

std::optional<messaging::DispatcherSettings> dispatcher_of(const Settings& settings) {
    using messaging::DispatcherSettings;
    if (settings.text("carrier") != "dispatcher") return std::nullopt;
    DispatcherSettings chosen;
    chosen.fragment_bytes = static_cast<std::uint64_t>(settings.number("fragment"));
    chosen.header_bytes = static_cast<std::uint64_t>(settings.number("header"));
    chosen.fragments = settings.integer<std::uint32_t>("fragments");
    chosen.control_blocks = settings.integer<std::uint32_t>("control_blocks");
    chosen.send_buffers = settings.integer<std::uint32_t>("send_buffers");
    chosen.wake =
        settings.text("wake") == "all" ? DispatcherSettings::Wake::all : DispatcherSettings::Wake::one;
    chosen.retry = settings.time("retry");
    const char* const limit = settings.stated("fragments") ? "fragments" : "fragment";
    chosen.where = settings.where(settings.stated(limit) ? limit : "carrier");
    chosen.check();
    return chosen;
}

}  // namespace heddle::workloads
