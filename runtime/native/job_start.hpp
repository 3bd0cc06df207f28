// Makes the processes of a job step (srun, mpirun) the nodes of one run, without `heddle launch`. Each tells
// its public key through the launcher. Process 0 makes the run's key, opens the rendezvous, and encrypts the
// key to each other process. The launcher, and a reader of what it carries, never see the run's key.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "host/machine.hpp"
#include "runtime/native/job_space.hpp"
#include "runtime/native/keys.hpp"
#include "runtime/native/membership.hpp"
#include "runtime/native/rendezvous.hpp"

namespace heddle::native {

/// The run's key for the process with the public key `to` (text_of), sealed by libsodium's crypto_box:
/// X25519, XSalsa20-Poly1305; in hexadecimal digits. Only that process can open it, and only a process with
/// the secret of `from` can have made it.
std::string seal_key(const Key& key, const KeyPair& from, const std::string& to);
/// Throws Error if process `sender`, a public key, has not sealed `sealed` for `to`.
Key open_key(const std::string& sealed, const KeyPair& to, const std::string& sender);

struct JobRun {
    Membership membership;
    std::unique_ptr<Rendezvous> rendezvous;  ///< process 0's
};

/// How the processes of a step meet.
struct JobMeeting {
    std::string address =
        {};  ///< process 0's, where the others find it; empty or a wildcard: the system chooses
    PortRange ports = {};
    std::optional<std::chrono::milliseconds> time = {};  ///< none: meeting_time
};

/// All processes of the step call it, or `fail_in_job`. `host` is this machine's name, by which the others
/// find it. `processors` are those that this process may use. Throws Error.
JobRun start_by_job(JobSpace& space, const std::string& host, const JobMeeting& meeting = {},
                    const host::ProcessorSet& processors = host::usable_processor_set());

/// This process's part in the run of its job step, which the first call makes and which lasts as long as the
/// process. Throws Error if the launcher offers no space for values.
const Membership& join_job(const JobMeeting& meeting = {});
/// This process cannot take part: tells the others, so that they do not wait for it. Returns whether process
/// 0 cannot either, because most likely it has met the same mistake; true also if the launcher offers no
/// space.
bool fail_in_job();
/// What `join_job` returned if it has been called, else nothing.
std::optional<Membership> membership_by_job();

}  // namespace heddle::native
