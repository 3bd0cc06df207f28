// For tests: EARTH's split-phase read (Tremblay et al., section 2) as a program. It asks for two values at
// once, and uses them when both have come.
#pragma once

#include "tests/earth_testing.hpp"

namespace heddle::test {

/// A thread that owns data on its node, tells where, and ends when it is told to.
struct OwnerParameters {
    Global<Global<std::int64_t>> tell;
    Sptr told;
    Global<Sptr> tell_end;
};
struct Owner : Threaded<Owner, OwnerParameters> {
    std::int64_t value;

    void init(Em em) {
        value = 100 + em.node_id();
        em.put_sync(em.to_global(value), tell, told);
        em.put_sync(em.to_sptr(over), tell_end, told);
    }
    void end(Em em) { em.terminate(); }
    Fiber<&Owner::end> over{*this, 1};
};

/// The paper's fragment: two values are asked for at once, and used when both have come.
struct GetBoth : Threaded<GetBoth> {
    Global<std::int64_t> x, y;
    Sptr x_over, y_over;
    std::int64_t my_x, my_y;

    void init(Em em) {
        em.invoke<Owner>(1 % em.num_nodes(), em.to_global(x), em.to_sptr(known), em.to_global(x_over));
        em.invoke<Owner>(2 % em.num_nodes(), em.to_global(y), em.to_sptr(known), em.to_global(y_over));
    }
    void get(Em em) {
        em.get_sync(x, my_x, xy_received);
        em.get_sync(y, my_y, xy_received);
    }
    void received(Em em) {
        notes(em).add(my_x);
        notes(em).add(my_y);
        em.sync(x_over);
        em.sync(y_over);
        em.terminate();
    }
    Fiber<&GetBoth::get> known{*this, 4};
    Fiber<&GetBoth::received> xy_received{*this, 2};
};

}  // namespace heddle::test
