// Runs the main thread of a dataflow program natively, on one node.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "model/dataflow.hpp"
#include "runtime/native/native_backend.hpp"
#include "runtime/run/execution.hpp"

namespace heddle::bench {

class DataflowMain final : public dataflow::DataflowProgram {
public:
    using Body = std::function<void(dataflow::Thread&)>;

    explicit DataflowMain(Body body) : body_(std::move(body)) {}
    void main(dataflow::Thread& self) override { body_(self); }
    runtime::Answer answer() const override { return {}; }

private:
    Body body_;
};

inline void run(int workers, const DataflowMain::Body& body) {
    native::NativeOptions options;
    options.cores = static_cast<CoreId>(workers);
    native::NativeBackend backend(options);
    runtime::Execution(backend, {}, [&](NodeId) { return std::make_unique<DataflowMain>(body); }).run();
}

}  // namespace heddle::bench
