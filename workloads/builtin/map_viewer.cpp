// map_viewer: shows a region of a large map, scaled down. A thread for each tile loads it, scales it down and
// sends its part of the image to the viewer (Alves, Pina, Exposto, Rufino: the case study of the pCoR paper,
// section 7). The names of the classes there: imgViewer (the main thread), imgTLoader (threads of the
// viewer's own process), imgCLoader (a thread for each tile asks a daemon) and imgDaemon (one on each
// process).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/memory_need.hpp"
#include "model/messaging.hpp"
#include "runtime/sources/io.hpp"
#include "workloads/dispatcher_settings.hpp"
#include "workloads/map/tiles.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

namespace {

using map::Fragment;
using map::Grid;
using map::Image;
using map::Pixels;
using map::Rectangle;
using map::View;
using messaging::Actual;
using messaging::From;
using messaging::Tag;
using messaging::Thread;
using messaging::ThreadId;

constexpr Tag fragment_tag = 1;
constexpr Tag request_tag = 2;

struct MapSettings {
    Grid grid;
    View view;
    bool cluster = false;
    std::uint32_t requests = 0;  ///< tiles that a process is asked for at the same time; 0: all
    double tile_bytes = 0;       ///< of a tile's file, which the disk reads
    double decode_cost = 0;      ///< of a pixel
    double scale_cost = 0;
    std::string out;
    std::optional<messaging::DispatcherSettings> dispatcher;
};

class MapProgram final : public messaging::MessagingProgram {
public:
    MapProgram(const MapSettings& settings, const Pixels& pixels) : settings_(settings), pixels_(pixels) {}

    void main(Thread& self) override;
    runtime::Answer answer() const override { return answer_; }

    std::optional<messaging::DispatcherSettings> dispatcher() const override { return settings_.dispatcher; }
    /// With daemons all nodes stay: the viewer may start one on any node as long as it shows regions.
    bool may_leave() const override { return !settings_.cluster; }
    const MapSettings& settings() const { return settings_; }

    /// Reads a tile from the disk, decodes it and scales it down.
    Fragment load(Thread& self, const Rectangle& tile) const {
        runtime::io(self.strand(), settings_.tile_bytes, [] {});
        Image image;
        const auto pixels = static_cast<double>(tile.pixels());
        self.worker().compute({settings_.decode_cost * pixels, 0}, [&] { image = pixels_.crop(tile); });
        Fragment fragment;
        self.worker().compute({settings_.scale_cost * pixels, 0},
                              [&] { fragment = map::scale_down(image, tile, settings_.view); });
        return fragment;
    }

private:
    void ask_for_all(Thread& self, const std::vector<Rectangle>& tiles, map::Canvas& canvas);
    void ask_for_some(Thread& self, const std::vector<Rectangle>& tiles, map::Canvas& canvas);

    const MapSettings& settings_;
    const Pixels& pixels_;
    runtime::Answer answer_;
};

/// Which of the daemons has a tile: a hash of its place, so that each node has as many.
std::size_t home_of(const Rectangle& tile, std::size_t daemons) {
    return (tile.y / 480U * 31U + tile.x / 640U) % daemons;
}

/// Loads a tile, and sends what it adds to the image to `to`.
void load_tile(Thread& self, Rectangle tile, ThreadId to) {
    self.send(to, fragment_tag, self.program<MapProgram>().load(self, tile));
}

/// imgDaemon: starts a thread for each request, until it is told that there are no more.
void daemon(Thread& self) {
    for (;;) {
        Actual actual;
        const auto tile = self.receive<Rectangle>({.tag = request_tag}, &actual);
        if (tile.empty()) return;
        self.create<load_tile>(self.process(), tile, actual.from);
    }
}

/// imgCLoader's thread for one tile: asks a daemon, and gives the viewer what comes.
void fetch_tile(Thread& self, Rectangle tile, ThreadId from, ThreadId viewer) {
    self.send(from, request_tag, tile);
    self.send(viewer, fragment_tag, self.receive<Fragment>({.tag = fragment_tag}));
}

void end_daemon(Thread& self, ThreadId daemon) {
    self.send(daemon, request_tag, Rectangle{});
}

void MapProgram::ask_for_all(Thread& self, const std::vector<Rectangle>& tiles, map::Canvas& canvas) {
    std::vector<ThreadId> daemons;
    if (settings_.cluster)
        for (const NodeId process : self.members()) daemons.push_back(self.create<daemon>(process));
    for (const Rectangle& tile : tiles) {
        if (settings_.cluster) {
            self.create<fetch_tile>(0, tile, daemons[home_of(tile, daemons.size())], self.id());
        } else {
            self.create<load_tile>(0, tile, self.id());
        }
    }
    for (std::size_t i = 0; i < tiles.size(); ++i) canvas.add(self.receive<Fragment>({.tag = fragment_tag}));
    for (const ThreadId daemon : daemons) end_daemon(self, daemon);
}

/// The process whose tile has come is asked for the next one. A process that joins gets tiles when it is
/// here.
void MapProgram::ask_for_some(Thread& self, const std::vector<Rectangle>& tiles, map::Canvas& canvas) {
    struct Daemon {
        NodeId process;
        ThreadId thread;
        std::uint32_t asked = 0;  ///< tiles that have not come
    };
    std::vector<Daemon> daemons;                    // in the order in which their processes were seen
    std::map<std::uint32_t, std::size_t> asked_by;  // threads of this process that have asked: which daemon
    std::size_t next = 0;
    for (std::size_t come = 0; come < tiles.size(); ++come) {
        for (const NodeId process : self.members())
            if (std::ranges::find(daemons, process, &Daemon::process) == daemons.end())
                daemons.push_back({process, self.create<daemon>(process)});
        // One after the other, so that all processes get as many at first.
        for (std::uint32_t round = 0; round < settings_.requests; ++round) {
            for (std::size_t i = 0; i < daemons.size() && next < tiles.size(); ++i) {
                if (daemons[i].asked > round) continue;
                ++daemons[i].asked;
                asked_by[self.create<fetch_tile>(0, tiles[next++], daemons[i].thread, self.id()).thread] = i;
            }
        }
        Actual actual;
        canvas.add(self.receive<Fragment>({.tag = fragment_tag}, &actual));
        --daemons[asked_by.at(actual.from.thread)].asked;
    }
    for (const Daemon& daemon : daemons) end_daemon(self, daemon.thread);
}

void MapProgram::main(Thread& self) {
    const std::vector<Rectangle> tiles = settings_.grid.tiles(settings_.view);
    map::Canvas canvas(settings_.view);
    if (settings_.cluster && settings_.requests != 0) {
        ask_for_some(self, tiles, canvas);
    } else {
        ask_for_all(self, tiles, canvas);
    }
    const Image image = canvas.image();
    if (!settings_.out.empty()) map::write_png(image, settings_.out);
    answer_ = {{"tiles", static_cast<double>(tiles.size())},
               {"width", static_cast<double>(image.width)},
               {"height", static_cast<double>(image.height)},
               {"digest", map::digest(image)}};
}

class MapWorkload final : public Workload {
public:
    explicit MapWorkload(const Settings& settings) {
        settings_.cluster = settings.text("loader") == "cluster";
        settings_.requests = settings.integer<std::uint32_t>("requests");
        settings_.tile_bytes = settings.number("tile_bytes");
        settings_.decode_cost = settings.number("decode_cost");
        settings_.scale_cost = settings.number("scale_cost");
        settings_.out = settings.path("out");
        settings_.dispatcher = dispatcher_of(settings);
        const auto number = [&](const char* name) { return settings.integer<std::uint32_t>(name); };
        std::optional<map::JpegFile> file;
        if (!settings.path("map").empty()) file.emplace(settings.path("map"));
        const auto size = [&](const char* name, std::uint32_t of_image) {
            return number(name) != 0 ? number(name) : of_image != 0 ? of_image : 9600;
        };
        settings_.grid.map = {0, 0, size("map_width", file ? file->width() : 0),
                              size("map_height", file ? file->height() : 0)};
        settings_.view.factor = number("factor");
        const Rectangle& all = settings_.grid.map;
        const Rectangle wanted{number("x"), number("y"), number("width") != 0 ? number("width") : all.width,
                               number("height") != 0 ? number("height") : all.height};
        settings_.view.region = wanted.common(all);
        if (settings_.view.region.empty())
            throw Error(fmt::format("the region begins at {}, {}, and the map has {} x {} pixels", wanted.x,
                                    wanted.y, all.width, all.height),
                        "let workload.x and workload.y be within the map");
        // The check crops the region and adds it up.
        const View& view = settings_.view;
        need_memory(3.0 * static_cast<double>(view.region.pixels()) + 27.0 * view.width() * view.height(),
                    fmt::format("a region of {} x {} pixels", view.region.width, view.region.height),
                    "show a smaller region, or scale it down further");
        if (!file) return;
        // Each tile is loaded whole.
        const std::vector<Rectangle> tiles = settings_.grid.tiles(view);
        const Rectangle& first = tiles.front();
        const Rectangle& last = tiles.back();
        pixels_ =
            Pixels(*file, {first.x, first.y, last.x + last.width - first.x, last.y + last.height - first.y});
    }

    std::unique_ptr<runtime::Program> program(NodeId /*node*/) const override {
        return std::make_unique<MapProgram>(settings_, pixels_);
    }

    /// The same by one loop, without tiles.
    Verdict check(const runtime::RunResult& result) const override {
        const View& view = settings_.view;
        const auto tiles = static_cast<double>(settings_.grid.tiles(view).size());
        map::Canvas canvas(view);
        canvas.add(map::scale_down(pixels_.crop(view.region), view.region, view));
        return judge(result.answer, {{"tiles", tiles}, {"digest", map::digest(canvas.image())}},
                     "the image, made without tiles");
    }

    std::vector<const runtime::TaskType*> tasks() const override { return {}; }

private:
    MapSettings settings_;
    Pixels pixels_;
};

const Registration registration{
    {"map_viewer",
     "a region of a large map, scaled down: a thread for each tile, in one process or on all nodes",
     with_dispatcher(
         {{"map", SettingKind::input_path, "",
           "JPEG file, which is repeated to the map's size; none: a drawn map"},
          {"map_width",
           SettingKind::integer,
           "0",
           "pixels of the map; 0: the file's, or 9600",
           {},
           0,
           100'000},
          {"map_height",
           SettingKind::integer,
           "0",
           "pixels of the map; 0: the file's, or 9600",
           {},
           0,
           100'000},
          {"x", SettingKind::integer, "0", "where the region begins", {}, 0, 100'000},
          {"y", SettingKind::integer, "0", "where the region begins", {}, 0, 100'000},
          {"width", SettingKind::integer, "0", "pixels of the region; 0: of the map", {}, 0, 100'000},
          {"height", SettingKind::integer, "0", "pixels of the region; 0: of the map", {}, 0, 100'000},
          {"factor", SettingKind::integer, "16", "so many pixels in each direction become one", {}, 1, 4096},
          {"loader",
           SettingKind::choice,
           "cluster",
           "threads: the viewer's process loads all tiles (imgTLoader); cluster: daemons of all processes do "
           "(imgCLoader)",
           {"threads", "cluster"}},
          {"requests",
           SettingKind::integer,
           "0",
           "cluster: a process is asked for so many tiles at a time, and those that join too; 0: all at "
           "once, of "
           "those that begin",
           {},
           0,
           1'000'000},
          {"out", SettingKind::output_path, "", "PNG file that is written; none: no file"},
          {"tile_bytes", SettingKind::bytes, "100kB", "of a tile's file, which the disk reads", {}, 0, 1e9},
          {"decode_cost",
           SettingKind::flops,
           "40f",
           "cost of decoding a pixel where work is charged",
           {},
           0,
           1e9},
          {"scale_cost",
           SettingKind::flops,
           "6f",
           "cost of scaling a pixel down where work is charged",
           {},
           0,
           1e9}}),
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<MapWorkload>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
