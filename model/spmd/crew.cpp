// Synchronizes the threads of a node in a collective call, and hands out parts of their leader's work.
#include "model/spmd/crew.hpp"

#include "base/assert.hpp"
#include "runtime/core/outlast.hpp"

namespace heddle::spmd {

Crew::Crew(std::uint32_t threads) : threads_(threads), helpers_(threads - 1), missing_(threads) {}

// Invariant: `missing_` is that of the next call from the moment on when the leader has seen all helpers, and
// helpers come to the next call only after `dismiss`, so no helper is counted in another call.
void Crew::lead(runtime::Strand& self, const Request& request) {
    if (threads_ == 1) return;
    if (missing_.fetch_sub(1, std::memory_order_acq_rel) != 1) self.wait(all_here_);
    missing_.store(threads_, std::memory_order_relaxed);
    all_here_.reset();
    for (std::uint32_t thread = 1; thread < threads_; ++thread)
        expect_alike(self.worker().id.node, 0, request, thread, helpers_[thread - 1].request);
}

void Crew::help(runtime::Strand& self, std::uint32_t thread, const Request& request) {
    Helper& helper = helpers_[thread - 1];
    helper.request = request;
    if (missing_.fetch_sub(1, std::memory_order_acq_rel) == 1)
        all_here_.complete(self.worker().node(), self.worker());
    for (;;) {
        const Part part = helper.parts.receive(self);
        if (!part.job) return;
        part.job->part(self, part.part, part.parts);
        one_part_done(self, *part.job);
    }
}

void Crew::one_part_done(runtime::Strand& self, Job& job) {
    if (job.missing_.fetch_sub(1, std::memory_order_acq_rel) == 1)
        job.done_.complete(self.worker().node(), self.worker());
}

void Crew::start(runtime::Strand& self, Job& job, std::uint32_t parts, std::uint32_t first) {
    HEDDLE_ASSERT(parts < threads_);
    job.missing_.store(parts, std::memory_order_relaxed);
    for (std::uint32_t part = 0; part < parts; ++part)
        helpers_[part].parts.send(self, {&job, first + part, first + parts});
}

void Crew::finish(runtime::Strand& self, Job& job) {
    self.wait(job.done_);
}

void Crew::outlast(runtime::Strand& self, const Job& job) noexcept {
    runtime::outlast(self.worker(), [&] { return job.done_.done(); });
}

void Crew::run(runtime::Strand& self, Job& job, std::uint32_t parts) {
    if (parts <= 1) return job.part(self, 0, parts);
    struct Started {
        runtime::Strand& by;
        const Job& job;
        ~Started() { outlast(by, job); }
    };
    start(self, job, parts - 1, 1);
    const Started started{self, job};  // the leader's part may throw while helpers do theirs
    job.part(self, 0, parts);
    finish(self, job);
}

void Crew::dismiss(runtime::Strand& self) {
    for (Helper& helper : helpers_) helper.parts.send(self, {});
}

}  // namespace heddle::spmd
