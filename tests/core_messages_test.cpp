// Tests lengths and contents of active messages: no length is cut. A message that its handler cannot read
// ends the run with an error that names the handler.
#include <gmock/gmock.h>

#include <array>
#include <string>

#include "base/error.hpp"
#include "runtime/comm/outbox.hpp"
#include "runtime/comm/wire.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/registered.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/run/execution.hpp"

namespace heddle::runtime {

using testing::AllOf;
using testing::HasSubstr;

namespace {

const Handler& handler_named(const std::string& name) {
    for (const Handler* handler : all_handlers())
        if (handler->name() == name) return *handler;
    throw Error("there is no handler " + name);
}

/// Its first worker sends node 1 a message of `bytes` zeros for a handler.
class ShortTalker final : public Program {
public:
    ShortTalker(std::string handler, std::size_t bytes) : handler_(std::move(handler)), bytes_(bytes) {}
    void begin(Worker& worker) override {
        if (worker.id.node != 0 || worker.id.core != 0) return;
        const Bytes message(bytes_, std::byte{0});
        worker.outbox().post(1, handler_named(handler_), message);
    }
    Answer answer() const override { return {}; }

private:
    std::string handler_;
    std::size_t bytes_;
};

std::string error_of_message(const std::string& handler, std::size_t bytes) {
    inprocess::Options options;
    options.nodes = 2;
    options.cores = 1;
    inprocess::InprocessBackend backend(options);
    try {
        Execution execution(backend, Schedule{},
                            [&](NodeId) { return std::make_unique<ShortTalker>(handler, bytes); });
        (void)execution.run();
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST(CoreMessages, ALengthBeyond32BitsIsNotCut) {
    constexpr std::uint64_t length = 5ULL << 30;
    const RecordHeader header(7, length);
    EXPECT_EQ(header.bytes(), length);
    EXPECT_EQ(header.handler(), 7u);
    EXPECT_EQ(sizeof header, 8u) << "small messages pay for every byte";
}

TEST(CoreMessages, ASizeBeyond32BitsIsNotCut) {
    for (const std::uint64_t size :
         {std::uint64_t{0}, std::uint64_t{0xffff'fffe}, std::uint64_t{0xffff'ffff}, std::uint64_t{5} << 30}) {
        Writer writer;
        writer.put_size(size);
        Reader reader(writer.bytes());
        EXPECT_EQ(reader.get_size(), size);
        EXPECT_TRUE(reader.done());
    }
}

TEST(CoreMessages, AMessageThatIsTooShortIsAnErrorThatNamesItsHandler) {
    for (const char* handler : {"sync.signal", "sync.put", "sync.get", "steal.request", "steal.refusal",
                                "steal.result", "termination.answer", "balance.load", "node.report"}) {
        EXPECT_THAT(error_of_message(handler, 3),
                    AllOf(HasSubstr(std::string("the handler ") + handler + " "), HasSubstr("3 bytes"),
                          HasSubstr("node 0")))
            << handler;
    }
}

TEST(CoreMessages, AllHandlersAndTaskTypesAreRegisteredByName) {
    const std::string text = registered_functions();
    EXPECT_THAT(text, HasSubstr("handler steal.request\n"));
    EXPECT_THAT(text, HasSubstr("handler sync.put\n"));
    EXPECT_LT(text.find("handler steal.refusal\n"), text.find("handler steal.request\n"));
}

}  // namespace heddle::runtime
