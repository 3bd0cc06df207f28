// Computes the platform's values from the readings of a calibration: by differences of slopes and by least
// squares. Resampling gives their intervals.
#include "calibration/entries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/random.hpp"
#include "calibration/entry_methods.hpp"
#include "calibration/message_sizes.hpp"
#include "model/dsm/page_table.hpp"
#include "runtime/comm/outbox.hpp"

namespace heddle::calibration {

namespace {

using Medians = std::map<Quantity, double>;
/// By key, in the order of the keys.
using Solution = std::map<std::string, double>;

constexpr double kib = 1024;
constexpr double page_bytes = 4096;
constexpr double flops_of_product = 2.0 * 64 * 64 * 64;
constexpr int resamples = 400;

struct Line {
    double intercept = 0;
    double slope = 0;
};

struct Point {
    double x = 0;
    double y = 0;
    double scale = 1;  ///< an error counts in proportion to it
};

/// Least squares of relative errors: of values over six orders of magnitude, absolute ones would fit the
/// largest alone. Neither number is negative, as no time is.
Line fit(const std::vector<Point>& points) {
    double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
    for (const Point& point : points) {
        const double weight = 1 / (point.scale * point.scale);
        w += weight;
        wx += weight * point.x;
        wy += weight * point.y;
        wxx += weight * point.x * point.x;
        wxy += weight * point.x * point.y;
    }
    if (w == 0) return {};
    const double determinant = w * wxx - wx * wx;
    if (points.size() < 2 || determinant <= 0) return {std::max(0.0, wy / w), 0};
    const double slope = (w * wxy - wx * wy) / determinant;
    if (slope < 0) return {std::max(0.0, wy / w), 0};
    const double intercept = (wy - slope * wx) / w;
    if (intercept < 0) return {0, wxy / wxx};
    return {intercept, slope};
}

/// The line of half round trips. Small messages decide what a message takes at least, because schedulers send
/// those; the slope is that of the least squares of relative errors beyond.
Line fit_way(const std::vector<Point>& points) {
    constexpr double small = 300;
    Line line;
    for (const Point& point : points)
        if (point.x <= points.front().x) line.intercept = point.y;
    constexpr int rounds = 30;  // each leaves a small part of the error
    for (int round = 0; round < rounds; ++round) {
        double xx = 0, xy = 0;
        std::vector<double> rest;
        for (const Point& point : points) {
            const double weight = 1 / (point.scale * point.scale);
            xx += weight * point.x * point.x;
            xy += weight * point.x * (point.y - line.intercept);
        }
        line.slope = std::max(0.0, xy / xx);
        for (const Point& point : points)
            if (point.x <= small || points.size() < 3) rest.push_back(point.y - line.slope * point.x);
        if (rest.empty()) return fit(points);
        line.intercept = std::max(0.0, median(std::move(rest)));
    }
    return line;
}

/// What per-message costs grow with, roughly: their errors count in proportion.
double scale_of(double bytes) {
    return 1 + bytes / kib;
}

std::string kernel_entry(const Quantity& quantity) {
    const std::string key = kernel_key + quantity.first.substr(kernel_quantity.size());
    return quantity.second == 0 ? key : fmt::format("{}@{}", key, quantity.second);
}

class Solver {
public:
    /// `by_size`: whether what bytes of messages take is a line, or stated by size; nothing: as fits better.
    Solver(const Medians& medians, Way way, std::optional<bool> by_size = {})
        : medians_(medians), way_(way), by_size_(by_size) {}

    Solution solve() {
        alone();
        thieves();
        waking();
        messages();
        pages();
        return std::move(solution_);
    }

    bool lowered() const { return lowered_; }
    bool by_size() const { return !sized_.ends.empty(); }
    const std::vector<Trip>& trips() const { return trips_; }

private:
    std::optional<double> get(const std::string& quantity, double size = 0) const {
        const auto found = medians_.find({quantity, size});
        if (found == medians_.end()) return std::nullopt;
        return found->second;
    }
    /// All sizes of a quantity.
    std::vector<Point> all(const std::string& quantity) const {
        std::vector<Point> points;
        for (auto at = medians_.lower_bound({quantity, -1});
             at != medians_.end() && at->first.first == quantity; ++at)
            points.push_back({at->first.second, at->second, 1});
        return points;
    }
    void set(const std::string& key, double value) { solution_[key] = std::max(0.0, value); }
    double entry(const std::string& key) const {
        const auto found = solution_.find(key);
        return found == solution_.end() ? 0 : found->second;
    }

    void alone() {
        if (const auto pair = get("fork_join")) {
            // Only their sum matters to a program without thieves, so it is read from trees of tasks.
            const double fork = get("fork").value_or(0), join = get("join").value_or(0);
            const double share = fork > 0 && join > 0 ? fork / (fork + join) : 0.5;
            set("overheads.fork", *pair * share);
            set("overheads.join", *pair * (1 - share));
            if (const auto shared = get("shared_fork_join")) set("overheads.fork_shared", *shared - *pair);
        }
        if (const auto closure = get("closure"))
            set("overheads.closure", *closure - get("fork_join").value_or(0));
        if (const auto sync = get("sync")) set("overheads.sync", *sync);
        if (const auto strand = get("strand")) set("overheads.strand", *strand);
        if (const auto two = get("two_switches")) set("overheads.strand_switch", *two / 2);
        if (const auto both = get("put_and_take")) set("overheads.token", *both / 2);
        if (const auto piece = get("piece")) set("overheads.compute", *piece);
        placed();
        if (const auto both = get("send_and_receive")) {
            set("overheads.message_match", *both / 2);
            if (const auto message = get("thread_message"))
                set("overheads.message_thread", (*message - *both - entry("overheads.strand_switch")) / 2);
        }
        if (const auto product = get("flop"); product && *product > 0)
            set("core_speed", flops_of_product / *product);
        for (const auto& [quantity, seconds] : medians_)
            if (quantity.first.starts_with(kernel_quantity) && seconds > 0)
                set(kernel_entry(quantity), 1 / seconds);
        for (const Point& streams : all("stream_byte"))
            if (streams.y > 0) set(fmt::format("memory_bandwidth.{}", streams.x), 1 / streams.y);
    }

    void placed() {
        const auto task = get("placed_task");
        if (!task) return;
        // A schedule's next task waits for the one before, besides its inputs.
        const double turn = entry("overheads.sync");
        set("overheads.placed_task", *task - entry("overheads.token") - turn);
        const auto inputs = get("placed_inputs");
        if (!inputs) return;
        set("overheads.placed_input", (*inputs - *task) / placed_inputs - entry("overheads.sync"));
        if (const auto elsewhere = get("inputs_elsewhere"))
            set("overheads.ready_elsewhere", (*elsewhere - *inputs) / placed_elsewhere);
    }

    void thieves() {
        const auto look = get("look");
        if (!look) return;
        set("overheads.steal_attempt", *look);
        if (const auto steal = get("look_and_steal")) set("overheads.steal", *steal - *look);
        if (const auto far = get("far_look")) set("overheads.steal_far", *far - *look);
        if (const auto access = get("ready_access")) set("overheads.readiness", *access);
    }

    void waking() {
        const auto soon = get("wake_soon");
        if (!soon) return;
        set("overheads.wake_up", *soon);
        const double asleep = get("wake_asleep").value_or(*soon);
        set("overheads.wake_up_asleep", asleep - *soon);
        const auto step = get("deep_sleep");
        set("overheads.wake_up_deep", step ? get("wake_late").value_or(asleep) - asleep : 0);
        set("overheads.deep_sleep", step.value_or(0));
        if (const auto paid = get("unpark")) set("overheads.unpark", *paid);
        if (const auto woken = get("message_wake")) set("overheads.wake_up_message", *woken - *soon);
        // Zero would say that no worker does.
        if (const auto receives = get("strand_receives"))
            set("overheads.wake_up_receiving", std::max(1e-12, *receives));
    }

    void messages() {
        std::vector<Point> sends = all("send");
        if (sends.empty()) return;
        const auto enqueues = all("enqueue");
        const double enqueue = enqueues.empty() ? 0 : enqueues.front().y;
        if (!enqueues.empty()) set("overheads.message_enqueue", enqueue);
        set_line("message_send", sends, enqueue);
        std::vector<Point> receives = all("receive");
        const std::vector<Point> of_three = all("receive_of_three");
        const double peer =
            of_three.empty() || receives.empty() ? 0 : std::max(0.0, of_three.front().y - receives.front().y);
        if (!of_three.empty()) set("overheads.poll_peer", peer);
        set_line("message_receive", receives, peer);
        if (const auto poll = get("poll", 2)) set("overheads.poll", *poll - peer);
        way();
    }

    /// What of half a round trip its ends do not pay is the way between them.
    void way() {
        std::vector<Point> hops = all("round_trip");
        if (hops.empty()) return;
        for (Point& hop : hops) {
            hop.y /= 2;
            hop.scale = hop.y;
        }
        const Line whole = fit_way(hops);
        limit_ends(whole);
        way_line_ = {std::max(0.0, whole.intercept - of_ends(0)),
                     std::max(0.0, whole.slope - (of_ends(kib) - of_ends(0)) / kib)};
        for (const Point& point : hops) trips_.push_back({point.x, point.y, hop(point.x)});
        divide(whole.intercept);
        for (Trip& trip : trips_) trip.by_entries = hop(trip.bytes);
        const bool network = way_ == Way::network;
        set(network ? "network.latency" : "shared_memory.latency",
            network ? way_line_.intercept / 2 : way_line_.intercept);
        if (way_line_.slope > 0)
            set(network ? "network.bandwidth" : "shared_memory.bandwidth", 1 / way_line_.slope);
        asleep();
    }

    /// Where one line is far from some sizes, each size is stated.
    void divide(double fixed) {
        constexpr double far = 0.1;
        if (!by_size_)
            by_size_ = std::ranges::any_of(
                trips_, [](const Trip& trip) { return std::abs(trip.by_entries / trip.seen - 1) > far; });
        if (!*by_size_) return;
        const std::vector<Point> sends = all("send"), receives = all("receive");
        std::vector<MessageEnds> measured;
        for (std::size_t i = 1; i < std::min(sends.size(), receives.size()); ++i)
            measured.push_back({sends[i].x, std::max(0.0, sends[i].y - sends.front().y),
                                std::max(0.0, receives[i].y - receives.front().y)});
        sized_ = divide_by_size(trips_, fixed, measured, way_);
        way_line_.slope = sized_.way_slope;
        for (const MessageEnds& ends : sized_.ends) {
            set(fmt::format("{}send@{}", message_bytes_key, ends.bytes), ends.send);
            set(fmt::format("{}receive@{}", message_bytes_key, ends.bytes), ends.receive);
        }
    }

    /// What a message to a receiver that sleeps takes more. On another machine the sender wakes no receiver.
    void asleep() {
        const auto sent = all("send_asleep");
        if (way_ == Way::shared_memory && !sent.empty())
            set("overheads.message_rouse", sent.front().y - entry("overheads.message_enqueue") -
                                               entry("overheads.message_send") -
                                               entry("overheads.message_send_kib") * sent.front().x / kib);
        const auto lost = all("receive_asleep");
        if (!lost.empty())
            set("overheads.message_interrupt",
                lost.front().y - entry("overheads.message_receive") - entry("overheads.poll_peer") -
                    entry("overheads.message_receive_kib") * lost.front().x / kib);
    }

    /// On a real machine the ends of a message may do part of their work while it is on its way, and a burst
    /// may cost more than a message alone. Then what they pay is lowered in proportion, so that a message
    /// takes what it was seen to take.
    void limit_ends(const Line& whole) {
        lower({"message_enqueue", "message_send", "message_receive"}, of_ends(0),
              most_of_hop * whole.intercept);
        const double most = most_of_hop * whole.slope * kib;
        if (way_ == Way::network)
            return lower({"message_send_kib", "message_receive_kib"}, of_ends(kib) - of_ends(0), most);
        for (const char* end : {"message_send_kib", "message_receive_kib"})
            lower({end}, entry(fmt::format("overheads.{}", end)), most);
    }
    void lower(std::initializer_list<const char*> names, double sum, double most) {
        if (sum <= most) return;
        for (const char* name : names) {
            const auto found = solution_.find(fmt::format("overheads.{}", name));
            if (found != solution_.end()) found->second *= most / sum;
        }
        lowered_ = true;
    }

    void set_line(const std::string& name, std::vector<Point> points, double less) {
        if (points.empty()) return;
        for (Point& point : points) {
            point.y -= less;
            point.scale = scale_of(point.x);
        }
        const Line line = fit(points);
        set("overheads." + name, line.intercept);
        set("overheads." + name + "_kib", line.slope * kib);
    }

    /// What its two ends take. Through shared memory one reads while the other writes.
    double of_ends(double bytes) const {
        const double writing = entry("overheads.message_send_kib"),
                     reading = entry("overheads.message_receive_kib");
        const double fixed = entry("overheads.message_enqueue") + entry("overheads.message_send") +
                             entry("overheads.message_receive") + entry("overheads.poll_peer");
        if (by_size()) return fixed + seconds_at_ends(sized_.ends, way_, bytes);
        return fixed + (way_ == Way::network ? writing + reading : std::max(writing, reading)) * bytes / kib;
    }
    double hop(double bytes) const { return of_ends(bytes) + way_line_.intercept + way_line_.slope * bytes; }

    void pages() {
        const auto change = get("home_barrier"), write = get("home_write");
        if (!change || !write) return;
        set("overheads.page_protect", *change);
        const double protect = entry("overheads.page_protect");
        set("overheads.page_fault", *write - protect);
        if (const auto fresh = get("first_write")) set("overheads.page_first", *fresh - *write);
        if (const auto copy = get("copy_write"))
            set("overheads.page_diff_kib", (*copy - *write) / (page_bytes / kib));
        const auto fetch = get("fetch");
        if (!fetch) return;
        constexpr double header = sizeof(runtime::RecordHeader);
        const double away =
            hop(header + sizeof(dsm::Request)) + hop(header + sizeof(dsm::Grant) + page_bytes);
        const double wake = get("message_wake").value_or(entry("overheads.wake_up"));
        set("overheads.page_fill", *fetch - entry("overheads.page_fault") - away - protect - wake);
    }

    /// The way itself takes some of the time.
    static constexpr double most_of_hop = 0.98;

    const Medians& medians_;
    Way way_;
    std::optional<bool> by_size_;
    bool lowered_ = false;
    SizedMessages sized_;
    std::vector<Trip> trips_;
    Solution solution_;
    Line way_line_;
};

constexpr const char* memory_key = "memory_bandwidth.";

/// The keys of message_bytes, by size.
std::vector<Quantity> sized_entries(const Solution& solution) {
    std::vector<Quantity> keys;
    for (const auto& [key, value] : solution)
        if (key.starts_with(message_bytes_key))
            keys.emplace_back(key, std::stod(key.substr(key.find('@') + 1)));
    // At each size `send` before `receive`.
    std::ranges::sort(keys, [](const Quantity& a, const Quantity& b) {
        return a.second != b.second ? a.second < b.second : a.first > b.first;
    });
    return keys;
}

std::size_t fewest(const Samples& samples, const std::vector<const char*>& quantities) {
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (const auto& [quantity, values] : samples)
        for (const char* name : quantities)
            if (quantity.first == name) least = std::min(least, values.size());
    return least == std::numeric_limits<std::size_t>::max() ? 0 : least;
}

Medians medians_of(const Samples& samples) {
    Medians medians;
    for (const auto& [quantity, values] : samples) medians[quantity] = median(values);
    return medians;
}

Medians resampled(const Samples& samples, Random& random) {
    Medians medians;
    for (const auto& [quantity, values] : samples) {
        std::vector<double> drawn(values.size());
        for (double& value : drawn) value = values[random.below(values.size())];
        medians[quantity] = median(std::move(drawn));
    }
    return medians;
}

double percentile(std::vector<double>& sorted, double share) {
    const auto last = static_cast<double>(sorted.size() - 1);
    return sorted[static_cast<std::size_t>(std::llround(share * last))];
}

}  // namespace

Entry::Kind kind_of(const std::string& key) {
    if (key == "core_speed" || key.starts_with(kernel_key)) return Entry::Kind::speed;
    return key.find("bandwidth") != std::string::npos ? Entry::Kind::bandwidth : Entry::Kind::time;
}

Calibration calibrate(const Samples& samples, Way way, std::uint64_t seed) {
    const Medians medians = medians_of(samples);
    Solver solver(medians, way);
    const Solution solution = solver.solve();
    std::map<std::string, std::vector<double>> drawn;
    Random random = Random(seed).split(17);
    for (int i = 0; i < resamples; ++i)
        for (const auto& [key, value] : Solver(resampled(samples, random), way, solver.by_size()).solve())
            drawn[key].push_back(value);
    Calibration result;
    result.trips = solver.trips();
    if (solver.lowered())
        result.remarks.emplace_back(
            "what both ends of a message pay came to more than half a round trip, and was lowered in "
            "proportion");
    const auto add = [&](const std::string& key, double value, std::size_t count, std::string method) {
        std::vector<double>& values = drawn[key];
        std::ranges::sort(values);
        Entry entry{key, kind_of(key), value, value, value, count, std::move(method)};
        if (!values.empty()) {
            entry.low = std::min(value, percentile(values, 0.025));
            entry.high = std::max(value, percentile(values, 0.975));
        }
        result.entries.push_back(std::move(entry));
    };
    for (const Described& one : described_entries()) {
        const auto found = solution.find(one.key);
        if (found != solution.end()) {
            add(one.key, found->second, fewest(samples, one.from), one.method);
        } else {
            result.missing.push_back({one.key, one.otherwise});
        }
        if (std::string(one.key) == "overheads.message_receive_kib")
            for (const Quantity& end : sized_entries(solution))
                add(end.first, solution.at(end.first), fewest(samples, {"round_trip"}),
                    "round trips of that size, divided as in bursts");
        if (std::string(one.key) != "core_speed") continue;
        for (const auto& [quantity, values] : samples) {
            if (!quantity.first.starts_with(kernel_quantity)) continue;
            const auto speed = solution.find(kernel_entry(quantity));
            if (speed != solution.end()) add(speed->first, speed->second, values.size(), "that work alone");
        }
        for (int streams = 1;; ++streams) {
            const auto memory = solution.find(memory_key + std::to_string(streams));
            if (memory == solution.end()) break;
            add(memory->first, memory->second, fewest(samples, {"stream_byte"}),
                "copies that go through memory, on so many cores at once");
        }
    }
    return result;
}

Noise noise_of(const Readings& readings) {
    std::map<double, std::vector<double>> by_core;
    for (const Reading& reading : readings)
        if (reading.quantity == "quantum") by_core[reading.size].push_back(reading.seconds);
    Noise worst;
    for (auto& [core, quanta] : by_core) {
        double sum = 0;
        for (const double seconds : quanta) sum += seconds;
        std::ranges::sort(quanta);
        const double undisturbed = percentile(quanta, 0.05);
        if (undisturbed <= 0) continue;
        worst.lost = std::max(worst.lost, sum / static_cast<double>(quanta.size()) / undisturbed - 1);
        worst.spread = std::max(worst.spread, percentile(quanta, 0.99) / percentile(quanta, 0.5) - 1);
    }
    return worst;
}

}  // namespace heddle::calibration
