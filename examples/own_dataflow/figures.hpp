// Figures 1 and 3 of the KAAPI paper (Gautier, Besseron, Pigeon: "KAAPI: A thread scheduling runtime system
// for data flow computations on cluster of multi-processors", PASCO 2007), line by line. The paper's text is
// beside it in docs/models/dataflow.md.
#pragma once

#include <cstdint>

#include "model/dataflow.hpp"
#include "model/dataflow/kaapi_threads.hpp"

namespace kaapi {

using namespace heddle::dataflow;

// --- Figure 1

inline void sum(Thread&, shared_r<int> res1, shared_r<int> res2, shared_w<int> res) {
    res = res1 + res2;
}

inline void fibonacci(Thread& self, int n, shared_w<int> res) {
    if (n < 2) {
        res = n;
    } else {
        shared<int> res1(self);
        shared<int> res2(self);
        self.fork<fibonacci>(n - 1, res1);
        self.fork<fibonacci>(n - 2, res2);
        self.fork<sum>(res1, res2, res);
    }
}

// --- Figure 3

/// function that returns thief_thread that contains theft work from the victim_thread. idle_cpu contains the
/// set of idle processors that initiate the call. In case of success, function should return true.
bool steal_function(Kaapi& victim_thread, KaapiId& thief_thread, const IdleWorkers& idle_cpu, void* user_arg);

void start_routine(Kaapi& self, void* arg);

/// create a thread that may export work
inline void create_thread(heddle::runtime::Worker& worker, void* arg) {
    KaapiId tid;
    Attributes attr;
    attr.set_steal_function(&steal_function, arg);
    create(worker, tid, attr, start_routine, arg);
}

}  // namespace kaapi
