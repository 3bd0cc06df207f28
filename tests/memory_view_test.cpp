// Tests memory views natively, in simulation and in-process, with each way to notice accesses: what pages
// permit, and what faults tell. The data of different nodes are separate.
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <optional>

#include "base/stack_guard.hpp"
#include "memory/memory_view.hpp"
#include "memory/userfaultfd.hpp"
#include "tests/conformance.hpp"

namespace heddle::conformance {

using namespace std::chrono_literals;
using runtime::Access;
using runtime::FaultHandler;
using runtime::MemoryView;
using runtime::Trigger;
using runtime::ViewOptions;

namespace {

struct Case {
    Arm arm;
    Trigger trigger;
    std::size_t page_bytes;
};

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const Arm& arm : arms()) {
        // The transports do not matter here.
        if (arm.name.starts_with("native_")) continue;
        for (const std::size_t page_bytes : {std::size_t{4} << 10, std::size_t{64} << 10}) {
            all.push_back({arm, Trigger::mprotect, page_bytes});
            if (memory::has_userfaultfd()) all.push_back({arm, Trigger::userfaultfd, page_bytes});
        }
    }
    return all;
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
    return info.param.arm.name + (info.param.trigger == Trigger::mprotect ? "_mprotect_" : "_userfaultfd_") +
           std::to_string(info.param.page_bytes >> 10);
}

/// Permits what was asked for, and counts.
class Granting final : public FaultHandler {
public:
    void on_fault(Context& context, std::size_t offset, std::optional<bool> told) override {
        const std::size_t faulted = offset / view->page_bytes();
        // Else a test whose page is not mapped would not end.
        if (reads + writes > faults_most) view->set_access(faulted, 1, Access::none);
        const bool write = told.value_or(reads != 0 && page == faulted);
        ++(write ? writes : reads);
        worker = context.id;
        page = faulted;
        view->set_access(faulted, 1, write ? Access::write : Access::read);
    }

    std::unique_ptr<MemoryView> view;
    std::atomic<int> reads{0};
    std::atomic<int> writes{0};
    std::atomic<WorkerId> worker{};
    std::atomic<std::size_t> page{0};

private:
    static constexpr int faults_most = 1000;
};

class MemoryViews : public testing::TestWithParam<Case> {
protected:
    static constexpr std::size_t pages = 8;

    void run(NodeId nodes, CoreId cores, const Script& script) {
        std::vector<std::unique_ptr<ScriptedNode>> programs;
        for (NodeId node = 0; node < nodes; ++node)
            programs.push_back(std::make_unique<ScriptedNode>(node, cores, script));
        GetParam().arm.run(nodes, cores,
                           [&](NodeId node) -> runtime::NodeProgram& { return *programs[node]; });
    }

    static std::unique_ptr<MemoryView> make(Context& worker, FaultHandler& handler) {
        const std::size_t page_bytes = GetParam().page_bytes;
        return worker.backend->make_view(worker.id.node, {pages * page_bytes, page_bytes, GetParam().trigger},
                                         handler);
    }

    /// A whole number in the middle of a page.
    static volatile std::uint64_t& at(const MemoryView& view, std::size_t page) {
        return *reinterpret_cast<volatile std::uint64_t*>(view.begin() + page * view.page_bytes() +
                                                          view.page_bytes() - 16);
    }
};

INSTANTIATE_TEST_SUITE_P(Worlds, MemoryViews, testing::ValuesIn(cases()), name_of);

TEST_P(MemoryViews, AnAccessThatIsNotPermittedComesToTheHandlerAndIsTriedAgain) {
    Script script;
    script.work = [&](Node&, Context& worker) {
        Granting granting;
        granting.view = make(worker, granting);
        MemoryView& view = *granting.view;
        EXPECT_EQ(view.trigger(), GetParam().trigger);
        EXPECT_EQ(at(view, 3), 0U);
        EXPECT_EQ(granting.reads, 1);
        EXPECT_EQ(granting.writes, 0);
        EXPECT_EQ(granting.page, 3U);
        EXPECT_EQ(granting.worker.load(), worker.id);
        EXPECT_EQ(at(view, 3), 0U);
        EXPECT_EQ(granting.reads, 1) << "reading was permitted already";
        at(view, 3) = 7;
        EXPECT_EQ(granting.writes, 1);
        at(view, 3) = 8;
        EXPECT_EQ(granting.writes, 1) << "writing was permitted already";
        at(view, 5) = 9;  // without a read before
        EXPECT_EQ(granting.reads, 1);
        EXPECT_EQ(granting.writes, 2);
        EXPECT_EQ(at(view, 3), 8U);
    };
    run(1, 1, script);
}

TEST_P(MemoryViews, WhatIsTakenBackIsAskedForAgainAndContentsStay) {
    Script script;
    script.work = [&](Node&, Context& worker) {
        Granting granting;
        granting.view = make(worker, granting);
        MemoryView& view = *granting.view;
        at(view, 2) = 21;
        view.set_access(2, 1, Access::read);
        EXPECT_EQ(at(view, 2), 21U);
        EXPECT_EQ(granting.reads, 0);
        at(view, 2) = 22;
        EXPECT_EQ(granting.writes, 2);
        view.set_access(2, 1, Access::none);
        EXPECT_EQ(at(view, 2), 22U);
        EXPECT_EQ(granting.reads, 1);
        view.set_access(0, pages, Access::none);
        at(view, 2) = 23;
        EXPECT_EQ(granting.writes, 3);
        // From reading to nothing and to reading again: it may not be written to.
        view.set_access(2, 1, Access::read);
        view.set_access(2, 1, Access::none);
        view.set_access(2, 1, Access::read);
        at(view, 2) = 24;
        EXPECT_EQ(granting.writes, 4);
        EXPECT_EQ(granting.reads, 1);
        EXPECT_EQ(at(view, 2), 24U);
        // The same with what the pages permit until then.
        view.set_access(2, 1, Access::read, Access::write);
        EXPECT_EQ(at(view, 2), 24U);
        at(view, 2) = 25;
        EXPECT_EQ(granting.writes, 5);
        view.set_access(2, 1, Access::none, Access::write);
        view.set_access(2, 1, Access::read, Access::none);
        view.set_access(2, 1, Access::write, Access::read);
        at(view, 2) = at(view, 2) + 1;
        EXPECT_EQ(at(view, 2), 26U);
        EXPECT_EQ(granting.reads, 1);
        EXPECT_EQ(granting.writes, 5);
        view.discard(2, 1);
        EXPECT_EQ(at(view, 2), 0U);
        EXPECT_EQ(granting.reads, 2);
    };
    run(1, 1, script);
}

/// As a system does that reclaims memory: by its own pages, of which a page of the view may have several.
TEST_P(MemoryViews, WhatTheSystemHasUnmappedIsMappedAgain) {
    constexpr std::size_t machine_page = 4096;
    Script script;
    script.work = [&](Node&, Context& worker) {
        Granting granting;
        granting.view = make(worker, granting);
        MemoryView& view = *granting.view;
        const std::size_t most = view.page_bytes() / machine_page;
        for (std::size_t i = 0; i < most; ++i) {
            const auto number = [&]() -> volatile std::uint64_t& {
                return *reinterpret_cast<volatile std::uint64_t*>(view.begin() + 2 * view.page_bytes() +
                                                                  i * machine_page);
            };
            number() = 20 + i;
            const int before = granting.reads + granting.writes;
            const auto unmap = [&] {
                ASSERT_EQ(::madvise(view.begin() + 2 * view.page_bytes() + i * machine_page, machine_page,
                                    MADV_DONTNEED),
                          0);
            };
            unmap();
            EXPECT_EQ(number(), 20 + i) << i;
            EXPECT_LE(granting.reads + granting.writes, before + 1) << i;
            view.set_access(2, 1, Access::write);
            unmap();
            number() = 40 + i;
            EXPECT_LE(granting.reads + granting.writes, before + 2) << i;
            EXPECT_EQ(number(), 40 + i) << i;
            // The others permit what was said too.
            view.set_access(2, 1, Access::read);
            const int writes = granting.writes;
            at(view, 2) = at(view, 2);
            EXPECT_EQ(granting.writes, writes + 1) << i;
        }
    };
    run(1, 1, script);
}

TEST_P(MemoryViews, ContentsAreTheSameMemoryWithoutFaults) {
    Script script;
    script.work = [&](Node&, Context& worker) {
        Granting granting;
        granting.view = make(worker, granting);
        MemoryView& view = *granting.view;
        std::memset(view.contents(1).data(), 0x11, view.page_bytes());
        EXPECT_EQ(granting.reads + granting.writes, 0);
        EXPECT_EQ(at(view, 1), 0x1111111111111111U);
        at(view, 1) = 5;
        std::uint64_t seen = 0;
        std::memcpy(&seen, view.contents(1).data() + view.page_bytes() - 16, sizeof seen);
        EXPECT_EQ(seen, 5U);
        const Bytes other = pattern(view.page_bytes(), 1);
        view.fill(6, other, Access::read);
        const int before = granting.reads;
        EXPECT_EQ(std::memcmp(view.begin() + 6 * view.page_bytes(), other.data(), other.size()), 0);
        EXPECT_EQ(granting.reads, before) << "a filled page permits what was said";
    };
    run(1, 1, script);
}

TEST_P(MemoryViews, NodesHaveSeparateData) {
    std::array<Granting, 3> granting;
    Script script;
    script.work = [&](Node& node, Context& worker) {
        Granting& own = granting[node.id];
        own.view = make(worker, own);
        at(*own.view, 0) = node.id + 100;
        park(worker, worker.backend->now(worker) + 1ms);
        EXPECT_EQ(at(*own.view, 0), node.id + 100);
        EXPECT_EQ(own.worker.load(), worker.id);
        own.view.reset();
    };
    run(3, 1, script);
}

/// The page comes by a message while the worker is parked in the middle of the instruction.
class Fetching final : public FaultHandler {
public:
    void on_fault(Context& context, std::size_t offset, std::optional<bool> /*write*/) override {
        ++faults;
        wanted = offset / view->page_bytes();
        waiting = &context;
        context.backend->send(context, 1, pack(wanted));
        while (!arrived.exchange(false)) context.backend->park(context, never);
    }

    std::unique_ptr<MemoryView> view;
    std::size_t wanted = 0;
    Context* waiting = nullptr;
    std::atomic<bool> arrived{false};
    int faults = 0;
};

TEST_P(MemoryViews, AWorkerMayWaitInAFaultForAMessage) {
    Fetching fetching;
    std::atomic<bool> ended{false};
    Script script;
    script.work = [&](Node& node, Context& worker) {
        if (node.id == 0) {
            fetching.view = make(worker, fetching);
            std::uint64_t sum = 0;
            for (std::size_t page = 0; page < pages; ++page) sum += at(*fetching.view, page);
            EXPECT_EQ(sum, 1000 * pages + pages * (pages - 1) / 2);
            EXPECT_EQ(fetching.faults, static_cast<int>(pages));
            fetching.view.reset();
            worker.backend->send(worker, 1, pack(pages));
        } else {
            while (!ended) park(worker, worker.backend->now(worker) + 1ms);
        }
    };
    script.deliver = [&](Node& node, NodeId from, std::span<const std::byte> message) {
        Context& receiver = node.receiver();
        if (node.id == 1) {
            const auto page = unpack<std::size_t>(message);
            if (page == pages) {
                ended = true;
                return receiver.backend->unpark(receiver, 0);
            }
            return receiver.backend->send(receiver, from, pack(std::uint64_t{1000 + page}));
        }
        const auto value = unpack<std::uint64_t>(message);
        Bytes contents(fetching.view->page_bytes());
        std::memset(contents.data(), 0, contents.size());
        std::memcpy(contents.data() + contents.size() - 16, &value, sizeof value);
        fetching.view->fill(fetching.wanted, contents, Access::read);
        const CoreId waiting = fetching.waiting->id.core;  // the next fault may come once it has arrived
        fetching.arrived = true;
        receiver.backend->unpark(receiver, waiting);
    };
    run(2, 1, script);
}

TEST_P(MemoryViews, SeveralWorkersFaultAtTheSameTime) {
    constexpr CoreId cores = 3;
    Granting granting;
    std::atomic<int> ready{0};
    std::atomic<int> left{0};
    Script script;
    script.work = [&](Node&, Context& worker) {
        const CoreId core = worker.id.core;
        if (core == 0) {
            granting.view = make(worker, granting);
            ready = 1;
        }
        while (ready == 0) park(worker, worker.backend->now(worker) + 1us);
        for (std::size_t round = 0; round < 20; ++round) {
            for (std::size_t page = core; page < pages; page += cores) {
                at(*granting.view, page) = at(*granting.view, page) + 1;
                granting.view->set_access(page, 1, Access::none);
            }
            park(worker, worker.backend->now(worker) + 1us);
        }
        ++left;
        while (core == 0 && left != cores) park(worker, worker.backend->now(worker) + 1us);
        if (core != 0) return;
        for (std::size_t page = 0; page < pages; ++page) EXPECT_EQ(at(*granting.view, page), 20U);
        granting.view.reset();
    };
    run(1, cores, script);
}

// --- what has nothing to do with a world

class Never final : public FaultHandler {
public:
    void on_fault(Context& /*context*/, std::size_t /*offset*/, std::optional<bool> /*write*/) override {
        FAIL();
    }
};

TEST(MemoryViewSizes, MustBeWholePages) {
    Never handler;
    const auto make = [&](std::size_t bytes, std::size_t page_bytes) {
        return memory::make_view({bytes, page_bytes, Trigger::mprotect}, handler, [] { return nullptr; });
    };
    EXPECT_THROW((void)make(4096, 100), Error);
    EXPECT_THROW((void)make(4096, 0), Error);
    EXPECT_THROW((void)make(0, 4096), Error);
    EXPECT_THROW((void)make(4096 + 1, 4096), Error);
    EXPECT_EQ(make(8192, 4096)->pages(), 2U);
}

TEST(MemoryViewSizes, MayBeFarMoreThanTheMachineHas) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the sanitizers leave programs less address space";
#endif
    Never handler;
    const std::size_t bytes = std::size_t{1} << 42;
    const auto view = memory::make_view({bytes, 4096, Trigger::checked}, handler, [] { return nullptr; });
    view->begin()[bytes - 1] = std::byte{3};
    EXPECT_EQ(view->contents(bytes / 4096 - 1)[4095], std::byte{3});
}

class MemoryViewDeathTest : public testing::TestWithParam<Trigger> {};

/// Of a page that no worker may access, by a thread that is no worker; and of memory that is in no view.
TEST_P(MemoryViewDeathTest, OtherFaultsKeepTheirSignal) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the sanitizers handle the signal themselves";
#endif
    if (GetParam() == Trigger::userfaultfd && !memory::has_userfaultfd())
        GTEST_SKIP() << "this system permits no userfaultfd";
    GTEST_FLAG_SET(death_test_style, "threadsafe");  // a forked process has no userfaultfd of its own
    const auto access = [](bool shared) {
        Never handler;
        const SignalStack signals;
        const auto view = memory::make_view({4096, 4096, GetParam()}, handler, [] { return nullptr; });
        *(shared ? reinterpret_cast<volatile int*>(view->begin()) : static_cast<volatile int*>(nullptr)) = 1;
    };
    EXPECT_EXIT(access(false), testing::KilledBySignal(SIGSEGV), "");
    EXPECT_EXIT(access(true), testing::KilledBySignal(GetParam() == Trigger::userfaultfd ? SIGBUS : SIGSEGV),
                "");
}

INSTANTIATE_TEST_SUITE_P(Triggers, MemoryViewDeathTest,
                         testing::Values(Trigger::mprotect, Trigger::userfaultfd));

}  // namespace

}  // namespace heddle::conformance
