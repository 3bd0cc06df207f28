// The protocol of home-based lazy release consistency: several nodes write a page at a time (Zhou, Iftode,
// Li: "Performance evaluation of two home-based lazy release consistency protocols for shared virtual memory
// systems", OSDI 1996). The home has the master copy. Another node keeps a twin of a page that it writes. At
// a barrier it sends what differs to the home, and nodes that have copies are told to drop them. A read sees
// what was written before the last barrier, or a value that is written meanwhile.
//
// A node that comes to a barrier waits until its changes are at the homes, and all nodes with copies know. So
// after the barrier no node reads what was there before.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <vector>

#include "model/dsm/diff.hpp"
#include "model/dsm/pages.hpp"
#include "model/dsm/protocol.hpp"
#include "runtime/comm/wire.hpp"

namespace heddle::dsm {

namespace {

using runtime::Bytes;
using runtime::Caller;
using runtime::Context;
using runtime::MalformedMessage;
using runtime::Reader;
using runtime::SpinLock;

class HomeLazyRelease final : public Protocol {
public:
    using Protocol::Protocol;

    Access asks_for(Access /*wanted*/) const override { return Access::read; }

    bool grant_here(PageId id, Page& page, Access access, Access wanted, Charges& charges) override {
        if (is_home(id)) {
            pages_.set_access(id, page, access, charges);
        } else {
            if (access != Access::write || page.access != Access::read) return false;
            const auto contents = pages_.contents(id);
            page.twin = std::make_unique<std::byte[]>(contents.size());
            std::memcpy(page.twin.get(), contents.data(), contents.size());
            charges.diffed_bytes += contents.size();
            pages_.set_access(id, page, Access::write, charges);
        }
        if (access == Access::write && !std::exchange(page.dirty, true)) {
            page.prefetched = wanted == Access::none;
            const SpinLock::Guard guard(lock_);
            dirty_.push_back(id);
        }
        return true;
    }

    void on_request(const Request& request) override {
        {
            Page& page = pages_.at(request.page);
            const SpinLock::Guard guard(page.lock);
            Home& home = home_of(page);
            home.note_use(request.from, std::min(request.wanted, Access::read), request.epoch);
            auto& copies = home.copies;
            const auto place = std::lower_bound(copies.begin(), copies.end(), request.from);
            if (place == copies.end() || *place != request.from) copies.insert(place, request.from);
        }
        pages_.on_demand({request.page, request.from, Demand::Kind::copy, 0, request.epoch});
    }

    bool give(const Demand& /*demand*/, Page& /*page*/, Grant& grant, Charges& /*charges*/) override {
        grant.access = Access::read;
        return true;
    }

    /// It was copied before the barrier that this node has passed since, and may have been told to drop it.
    bool accept(const Grant& grant, Page& /*page*/) override { return grant.epoch == epoch(); }

    std::uint32_t epoch() const override { return epoch_.load(std::memory_order_seq_cst); }

    void release(const Caller& caller) override {
        std::vector<PageId> dirty;
        {
            const SpinLock::Guard guard(lock_);
            dirty.swap(dirty_);
        }
        std::sort(dirty.begin(), dirty.end());
        Release out;
        Charges charges;
        for (const PageId id : dirty) release_page(id, out, charges);
        pages_.charge(caller.worker(), charges);
        {
            const SpinLock::Guard guard(lock_);
            homes_missing_ = out.diffs.size();
            notices_missing_ += static_cast<std::int64_t>(out.notices.size());
            settled_.reset();
        }
        const NodeId self = pages_.node().id();
        for (auto& [home, diffs] : out.diffs) pages_.send_notice(caller.worker(), home, std::move(diffs));
        for (auto& [node, noticed] : out.notices)
            pages_.send_notice(caller.worker(), node, notice_for(self, noticed));
        if (!out.diffs.empty() || !out.notices.empty()) caller.wait(settled_);
    }

    void acquire(const Caller& caller) override {
        std::vector<PageId> noticed;
        {
            const SpinLock::Guard guard(lock_);
            noticed.swap(noticed_);
            epoch_.fetch_add(1, std::memory_order_seq_cst);
        }
        Charges charges;
        for (const PageId id : noticed) {
            Page& page = pages_.at(id);
            const SpinLock::Guard guard(page.lock);
            pages_.give_up(id, page, charges);
        }
        pages_.charge(caller.worker(), charges);
    }

    void on_notice(NodeId from, std::span<const std::byte> message) override {
        Reader reader(message);
        const auto kind = reader.get<Kind>();
        reader.check();
        switch (kind) {
            case Kind::diffs:
                return on_diffs(from, reader);
            case Kind::notices:
                return on_notices(reader);
            case Kind::applied: {
                const auto notices = reader.get<std::uint32_t>();
                expect_end(reader);
                if (notices >= pages_.node().topology().nodes)
                    throw MalformedMessage(fmt::format("it counts {} nodes with copies", notices));
                return settle(1, notices);
            }
            case Kind::noticed:
                expect_end(reader);
                return settle(0, -1);
        }
        throw MalformedMessage("it is no notice of this protocol");
    }

private:
    enum class Kind : std::uint8_t {
        diffs,    ///< to the home: between which barriers, and what a node has changed
        notices,  ///< to a node with copies: drop them at the next barrier
        applied,  ///< to the node that has changed something: so many nodes were noticed
        noticed,  ///< the same: one of these knows
    };

    /// What a node sends when it comes to a barrier.
    struct Release {
        std::map<NodeId, Bytes> diffs;
        std::map<NodeId, std::vector<PageId>> notices;
    };

    static void expect_end(const Reader& reader) {
        reader.check();
        if (!reader.done()) throw MalformedMessage("it is too long");
    }

    bool is_home(PageId id) const { return pages_.arrays().home(id) == pages_.node().id(); }

    /// Under the page's lock, which guards what the home knows here: barriers look at it too.
    static Home& home_of(Page& page) {
        if (!page.home) page.home = std::make_unique<Home>();
        return *page.home;
    }

    void release_page(PageId id, Release& out, Charges& charges) {
        Page& page = pages_.at(id);
        const SpinLock::Guard guard(page.lock);
        if (is_home(id)) {
            // Alone, a node need not know any more what it writes. Else it must: whether a copy is fetched
            // before or after this moment must not decide how often the program faults.
            if (pages_.node().topology().nodes == 1) {
                const SpinLock::Guard list(lock_);
                dirty_.push_back(id);
                return;
            }
            const auto copies = std::exchange(home_of(page).copies, {});
            home_of(page).note_use(pages_.node().id(), page.prefetched ? Access::none : Access::write,
                                   epoch());
            for (const NodeId copy : copies) out.notices[copy].push_back(id);
        } else {
            const auto contents = pages_.contents(id);
            charges.diffed_bytes += contents.size();
            Bytes& diffs = out.diffs[pages_.arrays().home(id)];
            if (diffs.empty()) {
                append(diffs, Kind::diffs);
                append(diffs, epoch());
            }
            const std::size_t before = diffs.size();
            append_diff(diffs, id, {page.twin.get(), contents.size()}, contents);
            pages_.count_moved(0, diffs.size() - before);
            page.twin.reset();
        }
        page.dirty = false;
        pages_.set_access(id, page, Access::read, charges);
    }

    template <class T>
    static void append(Bytes& bytes, const T& value) {
        const auto more = runtime::bytes_of(value);
        bytes.insert(bytes.end(), more.begin(), more.end());
    }

    static Bytes notice_for(NodeId writer, const std::vector<PageId>& pages) {
        Bytes notice;
        append(notice, Kind::notices);
        append(notice, writer);
        for (const PageId id : pages) append(notice, id);
        return notice;
    }

    void on_diffs(NodeId from, Reader& reader) {
        Context& receiver = pages_.node().receiver();
        std::map<NodeId, std::vector<PageId>> notices;
        Charges charges;
        const auto written_in = reader.get<std::uint32_t>();
        reader.check();
        while (!reader.done()) {
            const auto id = reader.get<PageId>();
            reader.check();
            if (id >= pages_.arrays().pages() || !is_home(id))
                throw MalformedMessage("it changes a page whose home is another node");
            Page& page = pages_.at(id);
            const SpinLock::Guard guard(page.lock);
            const std::size_t changed = apply_diff(reader, pages_.contents(id));
            charges.diffed_bytes += changed;
            Home& home = home_of(page);
            // This node may not know yet that the barrier before has ended. A page without changes may have
            // been prefetched.
            home.note_use(from, changed == 0 ? Access::none : Access::write, written_in);
            auto& copies = home.copies;
            const bool has_copy = std::binary_search(copies.begin(), copies.end(), from);
            for (const NodeId copy : copies)
                if (copy != from) notices[copy].push_back(id);
            copies.assign(has_copy ? 1 : 0, from);
        }
        pages_.charge(receiver, charges);
        for (const auto& [node, noticed] : notices)
            pages_.send_notice(receiver, node, notice_for(from, noticed));
        Bytes applied;
        append(applied, Kind::applied);
        append(applied, static_cast<std::uint32_t>(notices.size()));
        pages_.send_notice(receiver, from, std::move(applied));
    }

    void on_notices(Reader& reader) {
        const auto writer = reader.get<NodeId>();
        reader.check();
        if (writer >= pages_.node().topology().nodes) throw MalformedMessage("it names a node that is none");
        {
            const SpinLock::Guard guard(lock_);
            while (!reader.done()) {
                const auto id = reader.get<PageId>();
                reader.check();
                if (id >= pages_.arrays().pages()) throw MalformedMessage("it names a page that is none");
                noticed_.push_back(id);
            }
        }
        Bytes noticed;
        append(noticed, Kind::noticed);
        pages_.send_notice(pages_.node().receiver(), writer, std::move(noticed));
    }

    void settle(std::uint32_t homes, std::int64_t notices) {
        {
            const SpinLock::Guard guard(lock_);
            if (homes > homes_missing_) throw MalformedMessage("this node waits for no home");
            // An acknowledgement may come before its home has said how many there are.
            if (notices < 0 && homes_missing_ == 0 && notices_missing_ <= 0)
                throw MalformedMessage("this node waits for no copies to be dropped");
            homes_missing_ -= homes;
            notices_missing_ += notices;
            if (homes_missing_ != 0 || notices_missing_ != 0) return;
        }
        settled_.complete(pages_.node(), pages_.node().receiver());
    }

    class Settled final : public runtime::Event {
    public:
        std::string what() const override { return "homes and copies of pages that it has written"; }
    };

    SpinLock lock_;  ///< over all below; after a page's
    std::vector<PageId> dirty_;
    std::vector<PageId> noticed_;  ///< to be dropped at the next barrier
    std::size_t homes_missing_ = 0;
    std::int64_t notices_missing_ = 0;
    Settled settled_;
    std::atomic<std::uint32_t> epoch_{0};  ///< barriers so far
};

}  // namespace

std::unique_ptr<Protocol> make_home_lazy_release(Pages& pages) {
    return std::make_unique<HomeLazyRelease>(pages);
}

}  // namespace heddle::dsm
