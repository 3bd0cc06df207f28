// A fuzz target for FASTA files: reads an input as DNA and as proteins.
#include "tests/fuzz/target.hpp"
#include "workloads/alignment/fasta.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace heddle;
    using namespace heddle::workloads::alignment;
    const std::string text = fuzz::text_of(data, size);
    for (const Alphabet alphabet : {Alphabet::dna, Alphabet::protein}) {
        fuzz::read_or_refuse([&] {
            for (const Sequence& sequence : parse_fasta(text, alphabet, "fuzz.fa"))
                (void)encode(alphabet, sequence.letters);
        });
    }
    return 0;
}
