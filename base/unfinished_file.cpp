// A list of names that a signal handler may read at any moment: slots are added and used again, never
// removed.
#include "base/unfinished_file.hpp"

#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>

namespace heddle {

struct UnfinishedSlot {
    std::atomic<char*> path = nullptr;  ///< null: free. What takes it out owns it
    std::atomic<pid_t> process = 0;
    UnfinishedSlot* next = nullptr;
};

namespace {

std::atomic<UnfinishedSlot*> slots = nullptr;
char removed = 0;  ///< its address is the path of a file that the handler has removed

void on_end(int signal) {
    const int before = errno;
    const pid_t self = ::getpid();
    for (UnfinishedSlot* slot = slots.load(); slot; slot = slot->next) {
        char* path = slot->path.load();
        if (!path || path == &removed || slot->process.load() != self) continue;
        if (slot->path.compare_exchange_strong(path, &removed)) ::unlink(path);
    }
    errno = before;
    ::raise(signal);  // its default action by now, when this handler has returned
}

bool handle_ends() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        struct sigaction present {};
        if (::sigaction(signal, nullptr, &present) != 0 || present.sa_handler != SIG_DFL) continue;
        struct sigaction action {};
        action.sa_handler = on_end;
        action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_ONSTACK;
        ::sigaction(signal, &action, nullptr);
    }
    return true;
}

/// A slot of which no other file is.
UnfinishedSlot* add_slot() {
    auto* slot = new UnfinishedSlot;
    slot->next = slots.load();
    while (!slots.compare_exchange_weak(slot->next, slot)) continue;
    return slot;
}

}  // namespace

UnfinishedFile::UnfinishedFile(const std::string& path) {
    [[maybe_unused]] static const bool handled = handle_ends();
    auto name = std::make_unique<char[]>(path.size() + 1);
    std::ranges::copy(path, name.get());
    const auto put = [&](UnfinishedSlot* slot) {
        char* none = nullptr;
        slot->process.store(::getpid());
        return slot->path.compare_exchange_strong(none, name.get());
    };
    slot_ = slots.load();
    while (slot_ && (slot_->path.load() || !put(slot_))) slot_ = slot_->next;
    if (!slot_) {
        do slot_ = add_slot();
        while (!put(slot_));
    }
    (void)name.release();
}

UnfinishedFile::~UnfinishedFile() {
    char* path = slot_->path.exchange(nullptr);
    if (path != &removed) delete[] path;
}

}  // namespace heddle
