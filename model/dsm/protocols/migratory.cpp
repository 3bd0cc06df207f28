// The migratory protocol of shared memory: each page has one copy, which moves with every fault (Lowenthal,
// Freeh, Andrews: "Using fine-grain threads and run-time decision making in parallel computing", 1996).
// Sequentially consistent.
#include "model/dsm/directory.hpp"
#include "model/dsm/pages.hpp"

namespace heddle::dsm {

namespace {

class Migratory final : public DirectoryProtocol {
public:
    using DirectoryProtocol::DirectoryProtocol;

    Access asks_for(Access /*wanted*/) const override { return Access::write; }

    bool give(const Demand& demand, Page& page, Grant& grant, Charges& charges) override {
        pages_.give_up(demand.page, page, charges);
        grant.access = Access::write;
        return true;
    }

protected:
    void begin_read(Home& home, const Request& request) override { begin_write(home, request); }
};

}  // namespace

std::unique_ptr<Protocol> make_migratory(Pages& pages) {
    return std::make_unique<Migratory>(pages);
}

}  // namespace heddle::dsm
