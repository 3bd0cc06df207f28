// Numbers static objects that have names (task types, message handlers). Each object gets the same number in
// every process of one binary, whatever the order of static initialization.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/assert.hpp"
#include "base/error.hpp"
#include "runtime/core/readable.hpp"
#include "runtime/core/spin_lock.hpp"

namespace heddle::runtime {

/// Objects of type T, which has `const std::string& name()` and `plural`, what to call several. All are added
/// before `main`; the first look-up sorts them by name and gives each its index. Add and first look-up happen
/// on one thread, or by way of `number`. Look-ups throw Error if two objects have one name.
template <class T>
class Registry {
public:
    static void add(const T& object) { objects().list.push_back(&object); }

    static std::uint32_t id(const T& object) {
        const auto& list = sorted();
        const auto found = std::lower_bound(list.begin(), list.end(), &object, before);
        HEDDLE_ASSERT(found != list.end() && *found == &object);
        return static_cast<std::uint32_t>(found - list.begin());
    }

    /// Calls `set(object, number)` for each whose `id()` is another one. Several threads may call it, and
    /// while one does, runs that called it before may read numbers: those do not change any more.
    template <class Set>
    static void number(const Set& set) {
        static SpinLock lock;
        const SpinLock::Guard guard(lock);
        std::uint32_t next = 0;
        for (const T* object : sorted()) {
            if (object->id() != next) set(*object, next);
            ++next;
        }
    }

    static const std::vector<const T*>& sorted() {
        Objects& all = objects();
        // Objects of a library that is loaded late are sorted in; numbers must not be in use by then.
        if (all.sorted != all.list.size()) {
            std::sort(all.list.begin(), all.list.end(), before);
            const auto twin =
                std::adjacent_find(all.list.begin(), all.list.end(),
                                   [](const T* a, const T* b) { return a->name() == b->name(); });
            if (twin != all.list.end()) {
                throw Error(fmt::format("two {} have one name, {}", T::plural, readable((*twin)->name())),
                            "names must differ in the whole program: rename one of the two functions, or put "
                            "them into namespaces with different names (anonymous ones have none)");
            }
            all.sorted = all.list.size();
        }
        return all.list;
    }

private:
    struct Objects {
        std::vector<const T*> list;
        std::size_t sorted = 0;
    };
    static Objects& objects() {
        static Objects all;
        return all;
    }
    static bool before(const T* a, const T* b) { return a->name() < b->name(); }
};

}  // namespace heddle::runtime
