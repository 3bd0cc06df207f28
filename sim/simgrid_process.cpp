// Requests and answers through pipes between the simulator and its SimGrid process, on both sides.
#include "sim/simgrid_process.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>

#include "base/assert.hpp"
#include "sim/child_process.hpp"
#include "sim/platform_file.hpp"
#include "sim/simgrid_module.hpp"

namespace heddle::sim {

namespace {

enum class Call : std::uint32_t { routes, routes_to, course, links, named_links, advance };

struct Request {
    Call call = Call::routes;
    std::uint32_t count = 0;  ///< routes wanted, or flows or pairs that follow
    NodeId from = 0;          ///< of all routes; or, of routes_to, where all of them end
    NodeId first = 0;         ///< of the routes' other ends; the number of a course
    Time until{};             ///< negative: add the flows only
};

/// More would not fit into a pipe at once, and a child that has died must not make us wait.
constexpr std::size_t flows_at_once = 1000;
static_assert(flows_at_once * sizeof(FlowStart) + sizeof(Request) <= 65536);
constexpr std::size_t pairs_at_once = 1000;
static_assert(pairs_at_once * sizeof(NodePair) + sizeof(Request) <= 65536);

/// One direction of the conversation. Says false once the other side is gone. What is put is written by
/// `flush`, all together: each write may wake the other side, which would wait again for the rest. Neither
/// side writes before it has got all that the other one wrote.
class Pipe {
public:
    explicit Pipe(int file) : file_(file) {}

    bool flush() {
        const char* at = put_.data();
        std::size_t count = put_.size();
        while (count > 0) {
            const ssize_t done = ::write(file_, at, count);
            if (done < 0 && errno == EINTR) continue;
            if (done <= 0) return false;
            at += done;
            count -= static_cast<std::size_t>(done);
        }
        put_.clear();
        return true;
    }
    void put_bytes(const void* data, std::size_t count) {
        const std::size_t before = put_.size();
        put_.resize(before + count);
        if (count != 0) std::memcpy(put_.data() + before, data, count);
    }
    bool get_bytes(void* data, std::size_t count) {
        char* at = static_cast<char*>(data);
        while (count > 0) {
            if (taken_ == got_ && !read_some()) return false;
            const std::size_t some = std::min(count, got_ - taken_);
            std::copy_n(read_.data() + taken_, some, at);
            taken_ += some;
            at += some;
            count -= some;
        }
        return true;
    }
    template <class T>
    requires std::is_trivially_copyable_v<T>
    void put(const T& value) { put_bytes(&value, sizeof value); }
    template <class T>
    requires std::is_trivially_copyable_v<T>
    bool get(T& value) { return get_bytes(&value, sizeof value); }
    template <class T>
    requires std::is_trivially_copyable_v<T>
    void put(const std::vector<T>& values) {
        put(values.size());
        put_bytes(values.data(), values.size() * sizeof(T));
    }
    template <class T>
    requires std::is_trivially_copyable_v<T>
    bool get(std::vector<T>& values) {
        std::size_t count = 0;
        if (!get(count)) return false;
        values.resize(count);
        return get_bytes(values.data(), count * sizeof(T));
    }
    void put(const std::string& text) {
        put(text.size());
        put_bytes(text.data(), text.size());
    }
    bool get(std::string& text) {
        std::size_t count = 0;
        if (!get(count)) return false;
        text.resize(count);
        return get_bytes(text.data(), count);
    }

private:
    /// What has come, as much as there is.
    bool read_some() {
        constexpr std::size_t at_once = 65536;
        read_.resize(at_once);
        ssize_t done = 0;
        do done = ::read(file_, read_.data(), read_.size());
        while (done < 0 && errno == EINTR);
        taken_ = 0;
        got_ = done < 0 ? 0 : static_cast<std::size_t>(done);
        return done > 0;
    }

    int file_;
    std::vector<char> put_;
    std::vector<char> read_;
    std::size_t got_ = 0;    ///< bytes in `read_`
    std::size_t taken_ = 0;  ///< of them
};

void put(Pipe& pipe, const RouteStructure& structure) {
    pipe.put(structure.kind);
    pipe.put(structure.shape);
    pipe.put(structure.out_class);
    pipe.put(structure.in_class);
}

bool get(Pipe& pipe, RouteStructure& structure) {
    return pipe.get(structure.kind) && pipe.get(structure.shape) && pipe.get(structure.out_class) &&
           pipe.get(structure.in_class);
}

void put(Pipe& pipe, const PlatformFacts& facts) {
    pipe.put(facts.hosts);
    pipe.put(facts.links);
    pipe.put(facts.groups);
    pipe.put(facts.lookahead);
    pipe.put(facts.changes);
    pipe.put(facts.tree);
    put(pipe, facts.structure);
    pipe.put(facts.notes.size());
    for (const std::string& note : facts.notes) pipe.put(note);
}

bool get(Pipe& pipe, PlatformFacts& facts) {
    std::size_t notes = 0;
    bool ok = pipe.get(facts.hosts) && pipe.get(facts.links) && pipe.get(facts.groups) &&
              pipe.get(facts.lookahead) && pipe.get(facts.changes) && pipe.get(facts.tree) &&
              get(pipe, facts.structure) && pipe.get(notes);
    for (std::size_t i = 0; ok && i < notes; ++i) ok = pipe.get(facts.notes.emplace_back());
    return ok;
}

void put(Pipe& pipe, const std::vector<NamedLink>& links) {
    pipe.put(links.size());
    for (const NamedLink& link : links) {
        pipe.put(link.name);
        pipe.put(link.latency);
        pipe.put(link.bandwidth);
    }
}

bool get(Pipe& pipe, std::vector<NamedLink>& links) {
    std::size_t count = 0;
    bool ok = pipe.get(count);
    for (std::size_t i = 0; ok && i < count; ++i) {
        NamedLink& link = links.emplace_back();
        ok = pipe.get(link.name) && pipe.get(link.latency) && pipe.get(link.bandwidth);
    }
    return ok;
}

void put(Pipe& pipe, const Error& error) {
    pipe.put(error.message());
    pipe.put(error.advice());
    pipe.put(error.where().file);
    pipe.put(error.where().line);
}

std::optional<Error> get_error(Pipe& pipe) {
    std::string message;
    std::string its_advice;
    Location where;
    if (!pipe.get(message) || !pipe.get(its_advice) || !pipe.get(where.file) || !pipe.get(where.line))
        return {};
    return Error(message, its_advice, where);
}

// --- in the child
// ---------------------------------------------------------------------------------------------

/// Answers requests until the parent is gone.
void serve(SimgridPlatform& platform, Pipe requests, Pipe answers) {
    Request request;
    bool ok = true;
    std::vector<RouteFacts> routes;
    std::vector<FlowEnd> ends;
    std::vector<NodePair> pairs;
    std::vector<std::size_t> counts;
    std::vector<LinkFacts> links;
    while (ok && requests.get(request)) {
        switch (request.call) {
            case Call::routes:
                routes.assign(request.count, {});
                for (std::uint32_t i = 0; i < request.count; ++i) {
                    if (request.first + i != request.from)
                        routes[i] = platform.route(request.from, request.first + i);
                }
                answers.put(routes);
                break;
            case Call::routes_to:
                routes.assign(request.count, {});
                for (std::uint32_t i = 0; i < request.count; ++i) {
                    if (request.first + i != request.from)
                        routes[i] = platform.route(request.first + i, request.from);
                }
                answers.put(routes);
                break;
            case Call::course:
                answers.put(platform.course(request.first));
                break;
            case Call::named_links:
                put(answers, platform.named_links());
                break;
            case Call::links:
                pairs.resize(request.count);
                ok = requests.get_bytes(pairs.data(), pairs.size() * sizeof(NodePair));
                if (!ok) break;
                counts.clear();
                links.clear();
                for (const NodePair& pair : pairs) {
                    const std::vector<LinkFacts> its = platform.links(pair.from, pair.to);
                    counts.push_back(its.size());
                    links.insert(links.end(), its.begin(), its.end());
                }
                answers.put(counts);
                answers.put(links);
                break;
            case Call::advance:
                for (std::uint32_t i = 0; ok && i < request.count; ++i) {
                    FlowStart flow;
                    ok = requests.get(flow);
                    platform.add(flow);
                }
                if (!ok) break;
                ends.clear();
                if (request.until >= Time::zero()) platform.advance(request.until, ends);
                answers.put(ends);
                answers.put(platform.quiet_until());
                break;
        }
        ok = ok && answers.flush();
    }
}

/// The parent waits for an answer, not for an error, so that goes to the error output, in SimGrid's form.
void serve_or_say_why_not(SimgridPlatform& platform, Pipe requests, Pipe answers) {
    try {
        serve(platform, requests, answers);
    } catch (const std::exception& failure) {
        const std::string words = fmt::format("[root/CRITICAL] {}\n", failure.what());
        Pipe errors(2);
        errors.put_bytes(words.data(), words.size());
        (void)errors.flush();
        ::_exit(1);
    }
}

/// Loads a platform file from memory, so that its <config> is left out.
std::unique_ptr<SimgridPlatform> load(Platform platform, const PlatformFile& file) {
    const std::string shown = platform.file;
    const int memory = ::memfd_create("platform", 0);
    Pipe copy(memory);
    copy.put_bytes(file.text.data(), file.text.size());
    if (memory < 0 || !copy.flush()) {
        throw Error("no memory for a copy of the platform file", {}, {shown, 0});
    }
    platform.file = fmt::format("/proc/self/fd/{}", memory);
    try {
        auto built = simgrid_module().build(platform, file);
        if (!file.overruled.empty()) {
            built->add_note(fmt::format("settings in the platform file's <config> are not used: {}",
                                        fmt::join(file.overruled, ", ")));
        }
        return built;
    } catch (const Error& error) {
        throw error.at({shown, 0});
    } catch (const std::exception& failure) {
        throw platform_file_error(failure.what(), shown, platform.file);
    }
}

[[noreturn]] void child_main(const Platform& platform, const PlatformFile& file, Pipe requests,
                             Pipe answers) {
    try {
        const std::unique_ptr<SimgridPlatform> built =
            platform.file.empty() ? simgrid_module().build(platform, file) : load(platform, file);
        answers.put(true);
        put(answers, built->facts());
        if (answers.flush()) serve_or_say_why_not(*built, std::move(requests), std::move(answers));
        ::_exit(0);
    } catch (const Error& error) {
        answers.put(false);
        put(answers, error);
    } catch (const std::exception& failure) {
        answers.put(false);
        put(answers, Error(fmt::format("SimGrid: {}", failure.what())));
    }
    (void)answers.flush();
    ::_exit(1);  // without destructors: they belong to the parent
}

}  // namespace

// --- in the parent
// --------------------------------------------------------------------------------------------

struct SimgridProcess::Child {
    ChildProcess process;
    Pipe answers;

    Child(const Platform& platform, const PlatformFile& file)
        : process(work(platform, file)), answers(process.answers()) {}

    static std::function<void(int, int)> work(const Platform& platform, const PlatformFile& file) {
        (void)simgrid_module();  // here, so that the children of all simulations share what was loaded
        return [&](int requests, int answers) { child_main(platform, file, Pipe(requests), Pipe(answers)); };
    }
    /// Sends a request and what follows it. False once the child is gone.
    template <class Follows = FlowStart>
    bool ask(const Request& request, std::span<const Follows> follow = {}) const {
        Pipe out(process.requests());
        out.put(request);
        out.put_bytes(follow.data(), follow.size_bytes());
        return out.flush();
    }
    std::vector<RouteFacts> ask_routes(const Request& request);

    /// SimGrid reports a bad platform by a line and an abort. `advice`, `where`: unless the system killed the
    /// process.
    [[noreturn]] void died(const std::string& advice = {}, const Location& where = {}) {
        const ChildProcess::Ending ending = process.ending();
        if (ending.signal == 0 || ending.signal == SIGABRT) {
            throw Error(fmt::format("SimGrid gave up: {}",
                                    ending.words.empty() ? "it said nothing about why" : ending.words),
                        advice, where);
        }
        throw Error(fmt::format("SimGrid's process was ended by signal {} ({}){}{}", ending.signal,
                                ::strsignal(ending.signal), ending.words.empty() ? "" : ": ", ending.words),
                    ending.signal == SIGKILL
                        ? "if the machine ran out of memory, lower platform.nodes; the kernel's log says so"
                        : advice,
                    where);
    }
};

SimgridProcess::SimgridProcess(const Platform& platform, const PlatformFile& file)
    : child_(std::make_unique<Child>(platform, file)) {
    Pipe& in = child_->answers;
    bool built = false;
    if (in.get(built)) {
        if (built) {
            if (get(in, facts_)) return;
        } else if (const auto error = get_error(in)) {
            throw error->at(platform.where);
        }
    }
    if (platform.file.empty()) child_->died();
    child_->died("it must be a platform file that SimGrid reads", {platform.file, 0});
}

SimgridProcess::~SimgridProcess() = default;

std::vector<RouteFacts> SimgridProcess::Child::ask_routes(const Request& request) {
    std::vector<RouteFacts> routes;
    if (!ask(request) || !answers.get(routes)) died();
    HEDDLE_ASSERT(routes.size() == request.count);
    return routes;
}

std::vector<RouteFacts> SimgridProcess::routes(NodeId from, NodeId first, NodeId count) {
    return child_->ask_routes({Call::routes, count, from, first, {}});
}

std::vector<RouteFacts> SimgridProcess::routes_to(NodeId to, NodeId first, NodeId count) {
    return child_->ask_routes({Call::routes_to, count, to, first, {}});
}

RouteCourse SimgridProcess::course(std::uint32_t number) {
    RouteCourse course;
    const Request request{Call::course, 0, 0, number, {}};
    if (!child_->ask(request) || !child_->answers.get(course)) child_->died();
    return course;
}

std::vector<NamedLink> SimgridProcess::named_links() {
    std::vector<NamedLink> links;
    Pipe& in = child_->answers;
    if (!child_->ask({Call::named_links, 0, 0, 0, {}}) || !get(in, links)) child_->died();
    return links;
}

std::vector<LinkFacts> SimgridProcess::links(NodeId from, NodeId to) {
    const NodePair pair{from, to};
    return links(std::span(&pair, 1)).front();
}

std::vector<std::vector<LinkFacts>> SimgridProcess::links(std::span<const NodePair> pairs) {
    std::vector<std::vector<LinkFacts>> all;
    std::vector<std::size_t> counts;
    std::vector<LinkFacts> links;
    while (!pairs.empty()) {
        const std::span<const NodePair> some = pairs.first(std::min(pairs.size(), pairs_at_once));
        pairs = pairs.subspan(some.size());
        const Request request{Call::links, static_cast<std::uint32_t>(some.size()), 0, 0, {}};
        Pipe& in = child_->answers;
        if (!child_->ask(request, some) || !in.get(counts) || !in.get(links)) child_->died();
        HEDDLE_ASSERT(counts.size() == some.size());
        auto next = links.begin();
        for (const std::size_t count : counts) {
            const auto end = next + static_cast<std::ptrdiff_t>(count);
            all.emplace_back(next, end);
            next = end;
        }
    }
    return all;
}

SimgridProcess::Advance SimgridProcess::advance(std::span<const FlowStart> starts, Time until) {
    Advance result;
    for (;;) {
        const std::span<const FlowStart> some = starts.first(std::min(starts.size(), flows_at_once));
        starts = starts.subspan(some.size());
        // Time goes on only when all flows are known.
        const Time to = starts.empty() ? until : Time(-1);
        const Request request{Call::advance, static_cast<std::uint32_t>(some.size()), 0, 0, to};
        Pipe& in = child_->answers;
        if (!child_->ask(request, some) || !in.get(result.ends) || !in.get(result.quiet_until))
            child_->died(
                "SimGrid shares bandwidth with numbers of limited precision: latencies below 1ns may be too "
                "small");
        if (starts.empty()) return result;
        HEDDLE_ASSERT(result.ends.empty());
    }
}

}  // namespace heddle::sim
