// Tests dataflow runs whose bodies catch the error of a task that they have forked: the error ends the run,
// in each world, wherever the body was.
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>

#include "model/dataflow.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::testing_caught {
namespace {

using namespace dataflow;
using Body = std::function<void(Thread&)>;

class Bodies final : public DataflowProgram {
public:
    explicit Bodies(const Body& body) : body_(body) {}
    void main(Thread& self) override { body_(self); }
    std::uint64_t window() const override { return 10; }
    runtime::Answer answer() const override { return {}; }

private:
    const Body& body_;
};

void add_one(Thread& /*self*/, shared_rw<long> object) {
    ++object.value();
}

void fail(Thread& /*self*/, shared_rw<long> object) {
    ++object.value();
    throw std::runtime_error("the program's own");
}

void fail_deep(Thread& self, int depth, shared_rpwp<long> object) {
    self.fork<add_one>(object);
    if (depth == 0) return self.fork<fail>(object);
    self.fork<fail_deep>(depth - 1, object);
    self.fork<add_one>(object);
}

template <class Code>
void catching(const Code& code) {
    try {
        code();
    } catch (const std::exception&) {
        // The body goes on.
    }
}

class DataflowCaught : public testing_strands::Strands {
protected:
    static void expect_error(const Body& body) { EXPECT_EQ(error_of(body), "the program's own"); }

private:
    static std::string error_of(const Body& body) {
        try {
            GetParam().run(failing_nodes(2), failing_cores(),
                           [&](NodeId) { return std::make_unique<Bodies>(body); });
        } catch (const std::exception& error) {
            return error.what();
        }
        return "no error";
    }
};

TEST_P(DataflowCaught, AtSync) {
    expect_error([](Thread& self) {
        const shared<long> object(self, 0L);
        self.fork<fail>(object);
        catching([&] { self.sync(); });
    });
}

TEST_P(DataflowCaught, AtSyncAndTheBodyForksMore) {
    for (const int depth : {0, 3}) {
        expect_error([depth](Thread& self) {
            const shared<long> object(self, 0L), other(self, 0L);
            self.fork<add_one>(other);
            self.fork<fail_deep>(depth, object);
            self.fork<add_one>(other);
            catching([&] { self.sync(); });
            const shared<long> more(self, 0L);
            for (int i = 0; i < 5; ++i) {
                self.fork<add_one>(more);
                self.fork<add_one>(object);
            }
            catching([&] { self.sync(); });
            self.fork<add_one>(more);
        });
    }
}

// The window is full, so the body waits where it forks.
TEST_P(DataflowCaught, AtAFork) {
    expect_error([](Thread& self) {
        const shared<long> object(self, 0L), other(self, 0L);
        for (int i = 0; i < 2'000; ++i) {
            catching([&] { self.fork<add_one>(other); });
            if (i == 20) catching([&] { self.fork<fail>(object); });
        }
    });
}

TEST_P(DataflowCaught, WhereAGroupIsRecorded) {
    expect_error([](Thread& self) {
        const shared<long> object(self, 0L);
        self.fork<fail>(object);
        catching(
            [&] { const Recording recording(self, [&](GroupRecorder&) { self.fork<add_one>(object); }); });
    });
}

INSTANTIATE_TEST_SUITE_P(Worlds, DataflowCaught, testing::ValuesIn(testing_strands::worlds()),
                         [](const auto& world) { return world.param.name; });

}  // namespace
}  // namespace heddle::testing_caught
