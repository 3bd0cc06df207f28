// Measures what a page fault of shared memory costs if no message is needed: the handler permits the access
// at once. Arguments: userfaultfd|mprotect read|write COUNT. Prints nanoseconds of a read, or of a write to a
// page that may be read. Taking the access back is measured apart.
#include <memory>
#include <optional>
#include <string>

#include "bench/native/outcome.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/native/native_backend.hpp"
#include "runtime/run/execution.hpp"

namespace {

using namespace heddle;
using namespace heddle::bench;
using runtime::Access;

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t pages = 256;

class Granting final : public runtime::FaultHandler {
public:
    void on_fault(runtime::Context& /*context*/, std::size_t offset, std::optional<bool> write) override {
        if (write.value_or(writes)) {
            view->set_access(offset / page_bytes, 1, Access::write, Access::read);
        } else {
            view->set_access(offset / page_bytes, 1, Access::read, Access::none);
        }
    }

    std::unique_ptr<runtime::MemoryView> view;
    bool writes = false;  ///< what the program does to its pages
};

class Faults final : public runtime::Program {
public:
    Faults(runtime::Trigger trigger, bool writes, std::uint64_t rounds)
        : trigger_(trigger), writes_(writes), rounds_(rounds) {}

    void begin(runtime::Worker& worker) override {
        Granting handler;
        handler.writes = writes_;
        handler.view =
            worker.backend->make_view(worker.id.node, {pages * page_bytes, page_bytes, trigger_}, handler);
        runtime::MemoryView& view = *handler.view;
        std::optional<Access> before;  // not known in the first round
        for (std::uint64_t round = 0; round < rounds_; ++round) {
            const double begin = seconds_now();
            for (std::size_t page = 0; page < pages; ++page)
                writes_ ? view.set_access(page, 1, Access::read, before)
                        : view.set_access(page, 1, Access::none);
            const double middle = seconds_now();
            for (std::size_t page = 0; page < pages; ++page) {
                auto* const at = reinterpret_cast<volatile char*>(view.begin() + page * page_bytes);
                if (writes_) {
                    *at = 1;
                } else {
                    (void)*at;
                }
            }
            faults += seconds_now() - middle;
            revocations += middle - begin;
            before = Access::write;
        }
    }
    runtime::Answer answer() const override { return {}; }

    static inline double faults = 0;
    static inline double revocations = 0;

private:
    runtime::Trigger trigger_;
    bool writes_;
    std::uint64_t rounds_;
};

}  // namespace

int main(int count, char** words) {
    if (count != 4) {
        std::fprintf(stderr, "usage: heddle_faults userfaultfd|mprotect read|write COUNT\n");
        return 2;
    }
    const auto trigger =
        std::string(words[1]) == "mprotect" ? runtime::Trigger::mprotect : runtime::Trigger::userfaultfd;
    const bool writes = std::string(words[2]) == "write";
    const std::uint64_t rounds = std::stoull(words[3]) / pages + 1;
    native::NativeOptions options;
    options.cores = 1;
    native::NativeBackend backend(options);
    runtime::Execution(backend, {}, [&](NodeId) {
        return std::make_unique<Faults>(trigger, writes, rounds);
    }).run();
    const auto each = static_cast<double>(rounds * pages);
    Outcome()
        .add("ns", Faults::faults / each * 1e9)
        .add("revoke_ns", Faults::revocations / each * 1e9)
        .print();
}
