// The access modes of a task to a shared object, and the rules that say which access may be passed on to
// which (Gautier, Besseron, Pigeon: "KAAPI", PASCO 2007, section 2.1). The postponed modes and the rules are
// those of Athapascan (INRIA RR-0276).
#pragma once

#include <cstdint>

namespace heddle::dataflow {

/// The mode of a formal parameter. A postponed one (rp, wp, rpwp, cwp) is not accessed by the task's own
/// body, but by the tasks that it forks.
enum class Mode : std::uint8_t {
    r,     ///< reads
    w,     ///< replaces the value
    rw,    ///< reads and changes it
    cw,    ///< accumulates with an operator
    rp,    ///< its tasks read
    wp,    ///< its tasks write
    rpwp,  ///< its tasks access it in any way
    cwp,   ///< its tasks accumulate
};

/// What a mode means for the tasks around it: the direct mode.
constexpr Mode direct(Mode mode) {
    switch (mode) {
        case Mode::rp:
            return Mode::r;
        case Mode::wp:
            return Mode::w;
        case Mode::rpwp:
            return Mode::rw;
        case Mode::cwp:
            return Mode::cw;
        default:
            return mode;
    }
}

/// Whether a task may pass an object that it has in mode `own` to a formal parameter of mode `formal`. `w` to
/// `w` is for the last access that a body makes to the object, which is found out when it runs.
constexpr bool may_pass(Mode own, Mode formal) {
    switch (own) {
        case Mode::r:
            return formal == Mode::r;
        case Mode::w:
            return formal == Mode::w;
        case Mode::rw:
            return false;
        case Mode::cw:
            return formal == Mode::cw;
        case Mode::rp:
            return formal == Mode::r || formal == Mode::rp;
        case Mode::wp:
            return formal == Mode::w || formal == Mode::wp;
        case Mode::rpwp:
            return true;
        case Mode::cwp:
            return formal == Mode::cw || formal == Mode::cwp;
    }
    return false;
}

/// Fails to compile where the passing is forbidden, and names the rule.
template <Mode own, Mode formal>
constexpr void expect_passing() {
    constexpr bool allowed = may_pass(own, formal);
    static_assert(own != Mode::r || allowed,
                  "dataflow rule r: an object that a body reads (r) is passed on to be read (r) only");
    static_assert(
        own != Mode::w || allowed,
        "dataflow rule w: an object that a body writes (w) is passed on, last, to be written (w) only");
    static_assert(own != Mode::rw || allowed,
                  "dataflow rule rw: an object that a body changes (rw) is not passed on");
    static_assert(
        own != Mode::cw || allowed,
        "dataflow rule cw: an object that a body accumulates to (cw) is passed on to be accumulated "
        "to (cw) only");
    static_assert(own != Mode::rp || allowed,
                  "dataflow rule rp: what is read later (rp) is passed on to be read (r, rp) only");
    static_assert(own != Mode::wp || allowed,
                  "dataflow rule wp: what is written later (wp) is passed on to be written (w, wp) only");
    static_assert(
        own != Mode::cwp || allowed,
        "dataflow rule cwp: what is accumulated to later (cwp) is passed on to be accumulated to (cw, "
        "cwp) only");
}

/// The direct mode of an object that a task was given twice: as both, or else exclusively.
constexpr Mode both(Mode a, Mode b) {
    return direct(a) == direct(b) ? direct(a) : Mode::rw;
}

}  // namespace heddle::dataflow
