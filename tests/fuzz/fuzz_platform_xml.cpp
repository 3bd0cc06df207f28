// A fuzz target for SimGrid platform files: the part that heddle reads itself, and SimGrid's error messages
// about it.
#include "sim/platform_file.hpp"
#include "tests/fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace heddle;
    const std::string text = fuzz::text_of(data, size);
    fuzz::read_or_refuse([&] { (void)sim::without_config(text, "fuzz.xml"); });
    (void)sim::platform_file_error(text, "fuzz.xml", "/proc/self/fd/3");
    return 0;
}
