// Names a run by digests of everything that determines it: configuration, files, program. Two runs with equal
// digests compute the same; in simulation their results are equal byte for byte.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "configs/digest.hpp"
#include "configs/experiment.hpp"
#include "configs/program_code.hpp"

namespace heddle::configs {

/// A file that a run reads, and the key of the configuration that names it.
struct InputFile {
    std::string key;     ///< dotted: workload.graph
    std::string path;    ///< as this process opens it
    std::string sha256;  ///< of its contents; empty if it cannot be read

    bool operator==(const InputFile&) const = default;
};

struct Determinants {
    /// Of the resolved configuration, without `name`, `repeat` and `compare`, which change no run, and with
    /// the names of files in place of their paths, because their contents count.
    std::string configuration;
    std::vector<InputFile> files;
    std::vector<CodeId> program;

    /// The name of the cell's directory: 16 hexadecimal digits. The folders of the files have no influence.
    std::string cell() const;

    /// The same 64 bits as a number, for native nodes that compare what they are about to run.
    std::uint64_t number() const;

    bool operator==(const Determinants&) const = default;
};

/// What determines a run of the experiment with its own seed. Reads every file that the run would read.
Determinants determinants_of(const Experiment& experiment);

/// The same for many experiments, which reads each file once.
Determinants determinants_of(const Experiment& experiment, FileDigests& files);

/// What differs between the determinants of two cells with one configuration, for people: `graph.dot
/// changed`, `the program changed`. Empty if nothing differs.
std::string changed(const Determinants& before, const Determinants& after);

}  // namespace heddle::configs
