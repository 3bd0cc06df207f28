// What a worker gives to `Backend::compute` in place of code where the program has done the work already and
// only counts it (Worker::work). A world that measures code has nothing to measure then.
#pragma once

namespace heddle {

struct WorkDone {
    void operator()() const {}
};

}  // namespace heddle
