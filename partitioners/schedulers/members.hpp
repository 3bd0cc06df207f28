// Declares every scheduler, for the factory that makes them by name.
#pragma once

#include <memory>

#include "partitioners/schedulers/scheduler.hpp"

namespace heddle::schedulers {

std::unique_ptr<Scheduler> make_serial();
std::unique_ptr<Scheduler> make_random();
std::unique_ptr<Scheduler> make_heft();
std::unique_ptr<Scheduler> make_cpop();
std::unique_ptr<Scheduler> make_mcp();
std::unique_ptr<Scheduler> make_etf();
std::unique_ptr<Scheduler> make_dls();
std::unique_ptr<Scheduler> make_fcp();
std::unique_ptr<Scheduler> make_flb();
std::unique_ptr<Scheduler> make_dps();
std::unique_ptr<Scheduler> make_dcp();
std::unique_ptr<Scheduler> make_dsc();
std::unique_ptr<Scheduler> make_portfolio();

}  // namespace heddle::schedulers
