// Programs of threads that talk, for tests in every world.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "model/messaging.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::messaging {

class MainThread final : public MessagingProgram {
public:
    using Body = std::function<void(Thread&)>;
    explicit MainThread(Body body) : body_(std::move(body)) {}
    void main(Thread& self) override { body_(self); }
    runtime::Answer answer() const override { return {}; }

private:
    Body body_;
};

class MessagingTest : public testing::TestWithParam<testing_strands::World> {
protected:
    static void run(NodeId nodes, CoreId cores, const MainThread::Body& body) {
        GetParam().run(GetParam().one_node ? 1 : nodes, cores,
                       [&](NodeId) { return std::make_unique<MainThread>(body); });
    }
    /// What ends such a run. Natively a failed run with several workers or nodes ends the process.
    static std::string error(const MainThread::Body& body) {
        const bool alone = GetParam().ends_process;
        return testing_strands::error_of([&] { run(alone ? 1 : 2, alone ? 1 : 2, body); });
    }
};

}  // namespace heddle::messaging
