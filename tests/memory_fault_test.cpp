// Tests a worker that waits for a page in the middle of a load or store. A strand that does not fork leaves
// the worker to other strands meanwhile. Any other code stays on the worker, which runs nothing above it.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/assert.hpp"
#include "base/fault_syndrome.hpp"
#include "memory/userfaultfd.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::testing_strands {
namespace {

using runtime::Access;
using runtime::Event;
using runtime::FaultHandler;
using runtime::MemoryView;
using runtime::Trigger;

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t pages = 16;

/// What a fault waits for, is completed by the tests: an event for each page.
class Awaiting final : public FaultHandler {
public:
    explicit Awaiting(Worker& worker, Trigger trigger)
        : view_(worker.backend->make_view(worker.id.node, {pages * page_bytes, page_bytes, trigger}, *this)),
          arrived_(pages) {}

    void on_fault(runtime::Context& context, std::size_t offset, std::optional<bool> /*write*/) override {
        auto& worker = static_cast<Worker&>(context);
        Event& arrived = arrived_[offset / page_bytes];
        Strand* const strand = worker.strands().current();
        ++faults;
        if (strand && !strand->forks()) {
            strand->wait_in_place(arrived);
        } else {
            worker.wait_idly(arrived);
        }
    }

    volatile std::uint64_t& at(std::size_t page) {
        return *reinterpret_cast<volatile std::uint64_t*>(view_->begin() + page * page_bytes);
    }
    /// `page` gets a value, and what waits for it goes on.
    void arrive(std::size_t page, std::uint64_t value, Worker& caller) {
        *reinterpret_cast<std::uint64_t*>(view_->contents(page).data()) = value;
        view_->set_access(page, 1, Access::read);
        arrived_[page].complete(caller.node(), caller);
    }

    std::atomic<int> faults{0};

private:
    std::unique_ptr<MemoryView> view_;
    std::vector<Event> arrived_;
};

struct Case {
    World world;
    Trigger trigger;
};

std::vector<Case> cases() {
    std::vector<Case> all;
    for (World& world : worlds()) {
        all.push_back({world, Trigger::mprotect});
        if (memory::has_userfaultfd()) all.push_back({std::move(world), Trigger::userfaultfd});
    }
    return all;
}

class MemoryFaults : public testing::TestWithParam<Case> {
protected:
    void run(CoreId cores, const FirstTask::First& first) {
        GetParam().world.run(1, cores, [&](NodeId) { return std::make_unique<FirstTask>(first); });
    }
    static std::unique_ptr<Awaiting> make(Worker& worker) {
        return std::make_unique<Awaiting>(worker, GetParam().trigger);
    }
};

INSTANTIATE_TEST_SUITE_P(Worlds, MemoryFaults, testing::ValuesIn(cases()), [](const auto& each) {
    return each.param.world.name + (each.param.trigger == Trigger::mprotect ? "_mprotect" : "_userfaultfd");
});

TEST_P(MemoryFaults, AStrandInAFaultLeavesItsWorkerToOthers) {
    std::unique_ptr<Awaiting> memory;
    std::string order;
    run(1, [&](Worker& worker) {
        memory = make(worker);
        for (int i = 0; i < 3; ++i) {
            Strand::start(worker,
                          [&, i](Strand& self) {
                              const Worker* const before = &self.worker();
                              order += static_cast<char>('a' + i);
                              const std::uint64_t value = memory->at(0);
                              order += static_cast<char>('A' + i);
                              EXPECT_EQ(value, 42U);
                              EXPECT_EQ(&self.worker(), before);
                          },
                          {"a reader", 0, false});
        }
        Strand::start(worker, [&](Strand& self) {
            order += '.';
            memory->arrive(0, 42, self.worker());
        });
    });
    EXPECT_EQ(order, "abc.ABC");
    EXPECT_EQ(memory->faults, 3);
    memory.reset();
}

// Strands that are not pinned may be stolen while they are ready, but not in the middle of an instruction.
TEST_P(MemoryFaults, AStrandGoesOnWithTheSameWorker) {
    constexpr int strands = 30;
    std::unique_ptr<Awaiting> memory;
    std::atomic<int> right{0};
    run(3, [&](Worker& worker) {
        memory = make(worker);
        for (int i = 0; i < strands; ++i) {
            Strand::start(worker,
                          [&, i](Strand& self) {
                              const Worker* const before = &self.worker();
                              std::uint64_t sum = 0;
                              for (std::size_t page = 0; page < pages; ++page)
                                  sum += memory->at((static_cast<std::size_t>(i) + page) % pages);
                              if (sum == pages * (pages - 1) / 2 && &self.worker() == before) ++right;
                          },
                          {"a reader", Strand::any_worker, false});
        }
        for (std::size_t page = 0; page < pages; ++page) {
            Strand::start(worker, [&, page](Strand& self) {
                self.yield();
                memory->arrive(page, page, self.worker());
            });
        }
    });
    EXPECT_EQ(right, strands);
    memory.reset();
}

TEST_P(MemoryFaults, ATaskInAFaultKeepsItsWorker) {
    std::unique_ptr<Awaiting> memory;
    std::uint64_t seen = 0;
    std::atomic<bool> faulting{false};
    run(2, [&](Worker& worker) {
        memory = make(worker);
        Strand::start(worker,
                      [&](Strand& self) {
                          while (!faulting) self.yield();
                          memory->arrive(3, 9, self.worker());
                      },
                      {"the other worker's", 1, true});
        faulting = true;
        seen = memory->at(3);
    });
    EXPECT_EQ(seen, 9U);
    memory.reset();
}

// Registers and flags of the interrupted code are as before, whatever ran in between.
TEST_P(MemoryFaults, TheInterruptedCodeNoticesNothing) {
    std::unique_ptr<Awaiting> memory;
    double sum = 0;
    run(1, [&](Worker& worker) {
        memory = make(worker);
        for (int i = 0; i < 2; ++i) {
            Strand::start(worker,
                          [&, i](Strand&) {
                              double a = 1 + i, b = 2, c = 3, d = 4, e = 5, f = 6;
                              for (std::size_t page = 0; page < pages; ++page) {
                                  const auto value = static_cast<double>(memory->at(page));
                                  a += value * b;
                                  b += 1 / c;
                                  c += d;
                                  d = e - f / a;
                              }
                              double x = 1 + i, y = 2, z = 3, u = 4;
                              for (std::size_t page = 0; page < pages; ++page) {
                                  x += static_cast<double>(page) * y;
                                  y += 1 / z;
                                  z += u;
                                  u = 5 - 6 / x;
                              }
                              sum += a - x;
                          },
                          {"a reader", 0, false});
        }
        for (std::size_t page = 0; page < pages; ++page) {
            Strand::start(worker, [&, page](Strand& self) { memory->arrive(page, page, self.worker()); });
        }
    });
    EXPECT_EQ(sum, 0);
    memory.reset();
}

/// The run fails while strands are in faults: what lies on their stacks cannot be unwound, but the error is
/// told.
TEST_P(MemoryFaults, AFailedRunWithStrandsInFaultsTellsItsError) {
    if (GetParam().world.name == "native_nodes") GTEST_SKIP() << "a failed node ends the process";
    std::unique_ptr<Awaiting> memory;
    std::uint64_t seen = 0;
    EXPECT_THROW(
        run(1,
            [&](Worker& worker) {
                memory = make(worker);
                Strand::start(worker, [&](Strand&) { seen = memory->at(0); }, {"a reader", 0, false});
                Strand::start(worker, [](Strand&) { throw Error("no more"); });
            }),
        Error);
    EXPECT_EQ(seen, 0U);
    memory.reset();
}

/// As Linux fills a frame: floating-point registers, the exception syndrome, and a record without bytes.
std::array<std::byte, 4096> records_with(std::uint64_t esr, std::uint32_t esr_magic = 0x45535201) {
    constexpr std::size_t registers_bytes = 528;
    const std::array<std::uint32_t, 2> registers{0x46508001, registers_bytes};
    const std::array<std::uint32_t, 2> syndrome{esr_magic, 16};
    std::array<std::byte, 4096> records{};
    std::memcpy(records.data(), registers.data(), sizeof registers);
    std::memcpy(records.data() + registers_bytes, syndrome.data(), sizeof syndrome);
    std::memcpy(records.data() + registers_bytes + sizeof syndrome, &esr, sizeof esr);
    return records;
}

// Syndromes as Linux's logs show them; their bits are those of the Arm Architecture Reference Manual,
// ESR_EL1.
TEST(FaultSyndromes, TellWritesFromReads) {
    const std::optional<bool> unknown;
    EXPECT_EQ(write_in_syndrome(records_with(0x92000007)), false) << "a load: not mapped";
    EXPECT_EQ(write_in_syndrome(records_with(0x92000047)), true) << "a store: not mapped";
    EXPECT_EQ(write_in_syndrome(records_with(0x9200004f)), true) << "a store: not permitted";
    EXPECT_EQ(write_in_syndrome(records_with(0x92000147)), false) << "cache maintenance";
    EXPECT_EQ(write_in_syndrome(records_with(0x82000007)), unknown) << "an instruction was fetched";
    EXPECT_EQ(write_in_syndrome(records_with(0x92000047, 0x45585401)), unknown) << "no syndrome";
    EXPECT_EQ(write_in_syndrome({}), unknown);
    const auto whole = records_with(0x92000047);
    EXPECT_EQ(write_in_syndrome(std::span(whole).first(540)), unknown) << "no room for the syndrome";
}

}  // namespace
}  // namespace heddle::testing_strands
