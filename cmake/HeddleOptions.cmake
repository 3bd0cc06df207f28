# Sets the options that every target of the project is compiled with: the language, the warnings (which are errors),
# the sanitizers.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
find_program(HEDDLE_CCACHE ccache)
if(HEDDLE_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${HEDDLE_CCACHE})
endif()

add_library(heddle_options INTERFACE)
target_compile_options(heddle_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
# Fuzz targets are compiled with clang, which warns of more than gcc. The other builds have passed gcc's warnings.
if(HEDDLE_FUZZ)
    target_compile_options(heddle_options INTERFACE -Wno-error)
endif()
# At -O3 gcc 12 has false warnings of "literal" + std::string and inside fmt (GCC bugs 105329 and 105651).
target_compile_options(heddle_options INTERFACE
    "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict;-Wno-stringop-overflow>")
# gcc collects garbage from 128 MB on. A file takes at most 1 GB, and without collections a tenth less time.
target_compile_options(heddle_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1000000>)
# -O3: the hot path of a task is inlined through templates.
set(CMAKE_CXX_FLAGS_RELEASE "-O3")
# For code that no run spends time in (options, tables, tests): -Og takes less than half the time to compile, and with
# UndefinedBehaviorSanitizer -O0 halves it again.
set(heddle_cold $<$<CONFIG:Release>:-Og>)
if(HEDDLE_SANITIZE MATCHES "undefined")
    set(heddle_cold -O0)
endif()
if(HEDDLE_SANITIZE)
    target_compile_options(heddle_options INTERFACE -fsanitize=${HEDDLE_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(heddle_options INTERFACE -fsanitize=${HEDDLE_SANITIZE})
    # gcc's manual: with sanitizers its warnings of uninitialized values may be false (here: in std::regex).
    target_compile_options(heddle_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    if(HEDDLE_SANITIZE STREQUAL "thread")
        # ThreadSanitizer does not see fences. SimGrid's headers have some; Heddle's may not (tests/layering_test.py).
        target_compile_options(heddle_options INTERFACE -Wno-tsan)
    endif()
endif()
