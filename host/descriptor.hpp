// A file descriptor with an owner, events that wake a poll, and the descriptors that every program begins
// with.
#pragma once

#include <string>
#include <utility>

namespace heddle::host {

/// Owns a file descriptor.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        reset(std::exchange(other.number_, -1));
        return *this;
    }
    ~Descriptor() { reset(); }

    int get() const { return number_; }
    explicit operator bool() const { return number_ >= 0; }
    void reset(int number = -1);

private:
    int number_ = -1;
};

/// Opens /dev/null as each of descriptors 0 to 2 that is closed. Otherwise the first file that is opened has
/// that number, and what is printed goes into it. A closed standard output becomes one that refuses to be
/// written. The caller must do this in main, before it opens anything.
void fill_standard_descriptors();

/// What `errno` value `number` means, in words. Safe to call from any thread.
std::string error_text(int number);

/// A counter that wakes a poll: written by any thread, readable once written.
Descriptor make_event();
void signal_event(const Descriptor& event);
void clear_event(const Descriptor& event);

}  // namespace heddle::host
