// A connection through memory that two processes of one machine share. A Unix socket between them carries
// none of its bytes. A byte there wakes the peer (a bell), and its end tells that the peer has ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "runtime/native/shared_memory.hpp"
#include "runtime/native/stream.hpp"

namespace heddle::native {

class SharedStream final : public Stream {
public:
    enum class Side : std::uint8_t { maker, opener };  ///< of the memory

    SharedStream(SharedMemory memory, Descriptor bell, Side side);

    bool in_memory() const override { return true; }
    std::ptrdiff_t write(std::span<const iovec> parts) override;
    bool ask_for_room() override;
    bool room_has_come() const override { return out_.room_has_come(); }

    std::ptrdiff_t read(std::span<const iovec> parts) override;
    std::string failure() const override { return failure_; }
    bool has_come() const override { return in_.has_come(); }
    bool ask_for_bytes() override;
    void ask_no_more() override;

    int descriptor() const override { return bell_.get(); }
    int lifeline() const override { return -1; }
    void shut_down() override;

private:
    bool put_some(std::span<const std::byte>& bytes);
    void publish();
    bool room_comes_soon();
    bool peer_has_ended() const;
    void ring_bell();
    std::size_t take_some(std::span<const iovec> parts);
    void hear_bell();
    void hear_answer();

    SharedMemory memory_;
    Descriptor bell_;
    RingWriter out_;
    RingReader in_;
    std::atomic<std::uint32_t> rooms_asked_{0};  ///< since the reader has heard the bell

    // The reader's.
    bool announced_ = false;  ///< the peer will ring the bell
    bool peer_is_gone_ = false;
    std::string failure_;
};

}  // namespace heddle::native
