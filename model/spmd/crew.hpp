// The threads of a node in a collective call (Chiang, Wu, Lin, section 2). The leader communicates; the other
// threads do parts of its local work, or communicate beside it. A crew does not know what its threads do.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

#include "model/spmd/request.hpp"
#include "runtime/comm/channel.hpp"
#include "runtime/core/wait.hpp"
#include "runtime/strands/strands.hpp"

namespace heddle::spmd {

/// Work that several threads do, each a part.
class Job {
public:
    virtual ~Job() = default;

    virtual void part(runtime::Strand& self, std::uint32_t part, std::uint32_t parts) = 0;

private:
    friend class Crew;

    class Done final : public runtime::Event {
    public:
        std::string what() const override { return "threads of its node in a collective call"; }
    };
    std::atomic<std::uint32_t> missing_{0};
    Done done_;
};

class Crew {
public:
    explicit Crew(std::uint32_t threads);

    std::uint32_t threads() const { return threads_; }

    // --- thread 0
    /// Returns when all threads have come to the same call. Throws Error if one has come to another.
    void lead(runtime::Strand& self, const Request& request);
    /// Helpers do `parts` parts of the job: thread i + 1 does part `first` + i of all.
    void start(runtime::Strand& self, Job& job, std::uint32_t parts, std::uint32_t first = 0);
    void finish(runtime::Strand& self, Job& job);
    /// For destructors: an error ends the call before `finish`, and the job is about to go.
    static void outlast(runtime::Strand& self, const Job& job) noexcept;
    /// Does part 0 itself, and returns when all are done.
    void run(runtime::Strand& self, Job& job, std::uint32_t parts);
    /// The call is over.
    void dismiss(runtime::Strand& self);

    // --- the others
    /// Does parts until the call is over.
    void help(runtime::Strand& self, std::uint32_t thread, const Request& request);

private:
    struct Part {
        Job* job = nullptr;  ///< null: the call is over
        std::uint32_t part = 0;
        std::uint32_t parts = 0;
    };
    struct Helper {
        Helper() : parts(4) {}
        runtime::Channel<Part> parts;
        Request request;
    };

    void one_part_done(runtime::Strand& self, Job& job);

    std::uint32_t threads_;
    std::deque<Helper> helpers_;  ///< threads 1 and following
    std::atomic<std::uint32_t> missing_;
    Job::Done all_here_;
};

}  // namespace heddle::spmd
