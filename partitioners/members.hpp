// Declares every simple partitioner (such as block and cyclic), for the factory.
#pragma once

#include <memory>

#include "partitioners/partitioner.hpp"

namespace heddle::partitioners {

std::unique_ptr<Partitioner> make_none();
std::unique_ptr<Partitioner> make_block();
std::unique_ptr<Partitioner> make_cyclic();

}  // namespace heddle::partitioners
