// The empty code that a worker gives to `Backend::compute` for work that the program has already done and
// only counts (Worker::work). A simulation that measures the time of code then has no code to measure.
#pragma once

namespace heddle {

struct WorkDone {
    void operator()() const {}
};

}  // namespace heddle
