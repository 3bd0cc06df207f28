// The store of keys and values through which the processes of a job step exchange data before they are
// connected. The cluster's launcher provides it by PMI-1 (srun --mpi=pmi2, MPICH's mpirun) or PMIx (srun
// --mpi=pmix, Open MPI's mpirun). It delivers values unchanged, but may show them to other users: no secret
// may be among them.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/ids.hpp"

namespace heddle::native {

class JobSpace {
public:
    virtual ~JobSpace() = default;

    virtual NodeId rank() const = 0;
    virtual NodeId processes() const = 0;

    /// Tells a value, of printable characters without blanks, `=` and `;`, at most `value_max` of them. Other
    /// processes see it after `exchange`. Throws Error, as the others do.
    virtual void put(const std::string& key, const std::string& value) = 0;
    /// Returns when each process has called it. Throws Error if that takes more than the stated time.
    virtual void exchange() = 0;
    /// What process `from` has told before the last exchange.
    virtual std::string get(NodeId from, const std::string& key) = 0;

    static constexpr std::size_t value_max = 512;
};

/// Whether this process's launcher offers PMI-1 or PMIx.
bool job_offers_space();

/// How long the processes wait for each other in an exchange. None: meeting_time.
using ExchangeTime = std::optional<std::chrono::milliseconds>;

/// The space of this process's job step. Null if the launcher offers none that this program knows. Throws
/// Error.
std::unique_ptr<JobSpace> open_job_space(ExchangeTime time = {});

/// By the protocol PMI-1 over the connected socket `descriptor`, which it closes.
std::unique_ptr<JobSpace> open_pmi_space(int descriptor, ExchangeTime time = {});

/// By the library of PMIx. Throws Error where the library is missing.
std::unique_ptr<JobSpace> open_pmix_space(ExchangeTime time = {});

}  // namespace heddle::native
