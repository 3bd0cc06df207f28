// Reads whether an access that faulted was a write, from the signal frame of an aarch64 processor. It is
// plain bytes, so that a test on any processor can make one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace heddle {

/// `records`: of the frame (`uc_mcontext.__reserved`), each with its kind and size before it. Nothing if none
/// describes the access (Linux, arch/arm64/include/uapi/asm/sigcontext.h). Allocates nothing.
inline std::optional<bool> write_in_syndrome(std::span<const std::byte> records) {
    constexpr std::uint32_t esr_magic = 0x45535201;  // the exception syndrome register
    struct Head {
        std::uint32_t magic;
        std::uint32_t bytes;
    };
    Head head{};
    std::uint64_t esr = 0;
    while (records.size() >= sizeof head + sizeof esr) {
        std::memcpy(&head, records.data(), sizeof head);
        if (head.magic == esr_magic) {
            std::memcpy(&esr, records.data() + sizeof head, sizeof esr);
            // Arm Architecture Reference Manual, ESR_EL1: the class, WnR, and CM, with which WnR is always
            // set.
            constexpr std::uint64_t data_abort = 0x24, writes = 1U << 6, maintains_cache = 1U << 8;
            if ((esr >> 26 & 0x3f) != data_abort) return std::nullopt;
            return (esr & writes) != 0 && (esr & maintains_cache) == 0;
        }
        if (head.bytes < sizeof head || head.bytes > records.size()) break;  // the last one has no bytes
        records = records.subspan(head.bytes);
    }
    return std::nullopt;
}

}  // namespace heddle
