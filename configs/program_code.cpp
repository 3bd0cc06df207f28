// Reads the build ids of this process's program and libraries from memory, where the loader has put them.
#include "configs/program_code.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "configs/digest.hpp"

namespace heddle::configs {

namespace {

/// A file of machine code in this process.
struct Loaded {
    std::uintptr_t begin = 0;  ///< its lowest address
    std::string path;
    std::string id;
};

/// The GNU build id in a block of notes: name size, text size, type, then name and text, padded to words.
std::string build_id_in(const char* note, std::size_t bytes) {
    const auto padded = [](std::size_t size) { return (size + 3) / 4 * 4; };
    while (bytes >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) header;
        std::memcpy(&header, note, sizeof header);
        const std::size_t whole = sizeof header + padded(header.n_namesz) + padded(header.n_descsz);
        if (whole > bytes) return {};
        const std::string_view name(note + sizeof header, header.n_namesz);
        if (header.n_type == NT_GNU_BUILD_ID && name == std::string_view("GNU\0", 4)) {
            std::string id;
            const char* const text = note + sizeof header + padded(header.n_namesz);
            for (std::size_t i = 0; i < header.n_descsz; ++i)
                id += fmt::format("{:02x}", static_cast<unsigned char>(text[i]));
            return id;
        }
        note += whole;
        bytes -= whole;
    }
    return {};
}

int add_loaded(dl_phdr_info* info, std::size_t, void* list) {
    auto& all = *static_cast<std::vector<Loaded>*>(list);
    Loaded loaded;
    loaded.path = all.empty() ? "/proc/self/exe" : info->dlpi_name;  // the program itself comes first
    loaded.begin = UINTPTR_MAX;
    for (std::size_t i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& part = info->dlpi_phdr[i];
        const std::uintptr_t address = info->dlpi_addr + part.p_vaddr;
        if (part.p_type == PT_LOAD && address < loaded.begin) loaded.begin = address;
        if (part.p_type == PT_NOTE && loaded.id.empty())
            loaded.id = build_id_in(reinterpret_cast<const char*>(address), part.p_memsz);
    }
    all.push_back(std::move(loaded));
    return 0;
}

std::string id_of(const Loaded& loaded) {
    return loaded.id.empty() ? sha256_of_file(loaded.path) : loaded.id;
}

std::string_view file_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

}  // namespace

std::vector<CodeId> program_code(const workloads::Kind& workload, [[maybe_unused]] bool simulated) {
#ifdef HEDDLE_SIMGRID_LIBRARY
    // The first simulation loads it. If it is not there, that one says so.
    if (simulated) (void)::dlopen(HEDDLE_SIMGRID_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
#endif
    std::vector<Loaded> all;
    ::dl_iterate_phdr(add_loaded, &all);
    Dl_info holder{};
    const bool held = ::dladdr(reinterpret_cast<const void*>(workload.make), &holder) != 0;

    std::vector<CodeId> code;
    for (const Loaded& loaded : all) {
        const std::string_view name = file_name(loaded.path);
        if (&loaded == &all.front()) {
            code.emplace_back("program", id_of(loaded));
        } else if (held && loaded.begin == reinterpret_cast<std::uintptr_t>(holder.dli_fbase)) {
            code.emplace_back("workload", id_of(loaded));
        } else {
            for (const char* library : {"libsimgrid", "libmetis", "libscotch"}) {
                if (!simulated && library == std::string_view("libsimgrid")) continue;
                const std::string_view rest = name.substr(0, std::strlen(library));
                const bool error_reports = name.starts_with("libscotcherr");
                if (rest == library && !error_reports) code.emplace_back(library + 3, id_of(loaded));
            }
        }
    }
    return code;
}

std::string program_id() {
    std::vector<Loaded> all;
    ::dl_iterate_phdr(add_loaded, &all);
    return id_of(all.front());
}

}  // namespace heddle::configs
