// List and clustering schedulers: one interface, one factory, each scheduler in its own file beside this one
// with the paper it follows. They decide where and when every task of a graph runs; they run nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "partitioners/schedulers/problem.hpp"
#include "partitioners/schedulers/schedule.hpp"

namespace heddle::schedulers {

struct Options {
    std::uint64_t seed = 1;  ///< for the schedulers that draw numbers; the others do not look at it

    /// Asked now and then by schedulers that improve as long as they may; true: come to an end. Where it's
    /// empty they stop after an amount of work of their own choice, so that the schedule depends on nothing
    /// but the seed.
    std::function<bool()> out_of_time;
};

class Scheduler {
public:
    virtual ~Scheduler() = default;

    /// A feasible schedule. The same problem and options give the same schedule (with an `out_of_time` that
    /// depends on anything else, only for schedulers that do not ask it).
    virtual Schedule schedule(const Problem& problem, const Options& options = {}) const = 0;
};

/// A named scheduler.
struct Kind {
    std::string name;
    std::string help;
    std::unique_ptr<Scheduler> (*make)();
    bool improves = false;  ///< it asks Options::out_of_time
};

/// All schedulers, in the order in which they are documented.
const std::vector<Kind>& all();

/// Their names.
std::vector<std::string> names();

/// Whether the scheduler of this name, which must be known, improves its schedule as long as it may.
bool improves(const std::string& name);

/// Throws Error with the nearest known name.
std::unique_ptr<Scheduler> make(const std::string& name);

}  // namespace heddle::schedulers
