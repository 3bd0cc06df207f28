// earth_reduction: Figure 3 of the EARTH paper (Tremblay et al.), with its line numbers on the right. A
// producer on every node drops its number into the master's mailbox; an exclusive fiber adds them up.
#include "workloads/earth.hpp"

namespace heddle::workloads {

namespace {

using namespace model::earth;

struct ProducerParameters {   // 1
    Global<Mailbox> mailbox;  // 1
};

struct Producer : Threaded<Producer, ProducerParameters> {  // 1
    static constexpr auto name = "earth_producer";

    void init(Em em) {
        em.work();
        const NodeId n = em.node_id();  // 3
        em.drop_in(mailbox, n);         // 4
        em.terminate();                 // 5
    }
};

struct Master : Threaded<Master> {  // 8
    static constexpr auto name = "earth_master";

    Mailbox mailbox;         // 10
    std::int64_t total = 0;  // 11

    void init(Em em) {
        em.init_mailbox(mailbox, cumulate_item);            // 13
        print_result.set(em.num_nodes(), 0);                // 25
        for (NodeId i = 0; i < em.num_nodes(); ++i)         // 14
            em.invoke<Producer>(i, em.to_global(mailbox));  // 15
    }

    void cumulate(Em em) {                                      // 17
        NodeId v = 0;                                           // 18
        em.retrieve_item(mailbox, v);                           // 20
        total += v;                                             // 21
        em.sync(print_result);                                  // 22
    }                                                           // 23
    ExclusiveFiber<&Master::cumulate> cumulate_item{*this, 1};  // 17

    void print(Em em) {                                                                   // 25
        em.program<EarthProgram>().answer_with({{"total", static_cast<double>(total)}});  // 26
        em.terminate();                                                                   // 27
    }                                                                                     // 28
    Fiber<&Master::print> print_result{*this};                                            // 25
};

class ReductionProgram final : public EarthProgram {
public:
    using EarthProgram::EarthProgram;
    void main(Em em) override {
        em.worker().node().expect_same_nodes("earth_reduction starts a producer on every node, and needs");
        em.invoke<Master>(0);
    }
};

class ReductionWorkload final : public EarthWorkload {
public:
    explicit ReductionWorkload(const Settings& settings) : settings_(settings) {}

    std::unique_ptr<runtime::Program> program(NodeId) const override {
        return std::make_unique<ReductionProgram>(settings_);
    }

    std::vector<const runtime::TaskType*> tasks() const override { return {}; }

protected:
    Verdict check_answer(const runtime::RunResult& result) const override {
        const auto nodes = static_cast<double>(result.nodes.size());
        return judge(result.answer, {{"total", nodes * (nodes - 1) / 2}}, "the sum of the nodes' numbers");
    }

private:
    Settings settings_;
};

const Registration registration{
    {"earth_reduction",
     "the sum of the nodes' numbers by a mailbox and an exclusive fiber, as in the EARTH paper's Figure 3",
     EarthProgram::settings({}, "100f", "one producer"),
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<ReductionWorkload>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
