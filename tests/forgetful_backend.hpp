// For tests: a backend whose memory views ignore one revocation of access in a hundred. A node goes on
// reading, or writing, pages that it has given up. If the data of nodes are separate, shared memory must then
// give wrong answers.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/backend.hpp"

namespace heddle::testing_dsm {

class ForgetfulView final : public runtime::MemoryView {
public:
    ForgetfulView(std::unique_ptr<runtime::MemoryView> inner, std::atomic<std::uint32_t>& revocations)
        : MemoryView({inner->bytes(), inner->page_bytes(), inner->trigger()}, inner->begin(),
                     inner->contents(0).data(), inner->trigger()),
          inner_(std::move(inner)),
          revocations_(revocations),
          access_(inner_->pages(), runtime::Access::none) {}

    void set_access(std::size_t first, std::size_t count, runtime::Access access,
                    std::optional<runtime::Access> /*before*/) override {
        const bool revokes = access < access_[first];
        if (revokes && ++revocations_ % 100 == 0) return;
        for (std::size_t page = first; page < first + count; ++page) access_[page] = access;
        inner_->set_access(first, count, access);  // what it permits now may be more than the caller knows
    }
    void discard(std::size_t first, std::size_t count) override { inner_->discard(first, count); }

private:
    std::unique_ptr<runtime::MemoryView> inner_;
    std::atomic<std::uint32_t>& revocations_;
    std::vector<runtime::Access> access_;  ///< a page is changed by one thread at a time
};

/// Every operation is that of another backend, except that views forget.
class ForgetfulBackend final : public runtime::Backend {
public:
    using Context = runtime::Context;

    explicit ForgetfulBackend(Backend& inner) : inner_(inner) {}

    const runtime::Topology& topology() const override { return inner_.topology(); }
    void run(const runtime::NodeFactory& make_node) override { inner_.run(make_node); }
    Time now(const Context& context) const override { return inner_.now(context); }
    void pause(Context& context) override { inner_.pause(context); }
    void park(Context& context, Time deadline) override { inner_.park(context, deadline); }
    void unpark(Context& caller, CoreId core) override { inner_.unpark(caller, core); }
    void compute(Context& context, const runtime::Work& work, const std::function<void()>& code) override {
        inner_.compute(context, work, code);
    }
    void send(Context& context, NodeId to, runtime::Bytes message, runtime::Enclosure enclosure,
              runtime::Path path) override {
        inner_.send(context, to, std::move(message), std::move(enclosure), path);
    }
    std::span<std::byte> beside_stack(WorkerId worker, std::size_t bytes) override {
        return inner_.beside_stack(worker, bytes);
    }
    runtime::Bytes buffer(Context& context) override { return inner_.buffer(context); }
    bool poll(Context& context) override { return inner_.poll(context); }
    void io(Context& caller, double bytes, std::function<void()> code,
            std::function<void(Context& context)> done) override {
        inner_.io(caller, bytes, std::move(code), std::move(done));
    }
    std::unique_ptr<runtime::MemoryView> make_view(NodeId node, const runtime::ViewOptions& options,
                                                   runtime::FaultHandler& handler) override {
        return std::make_unique<ForgetfulView>(inner_.make_view(node, options, handler), revocations_);
    }
    void start_nodes(Context& caller, NodeId count) override { inner_.start_nodes(caller, count); }
    Time elapsed() const override { return inner_.elapsed(); }

private:
    Backend& inner_;
    std::atomic<std::uint32_t> revocations_{0};
};

}  // namespace heddle::testing_dsm
