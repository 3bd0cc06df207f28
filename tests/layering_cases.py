"""Small source trees for the self-test of layering_test.py: each breaks one rule, the first ones none.

A case is (rule, {path: text}). Words that the rules look for in this very file are put together from halves.
"""

GOOD = {
    "CMakeLists.txt": "heddle_library(base DEPENDS fmt::fmt)\n"
                      "heddle_library(runtime DEPENDS heddle::base)\n"
                      "heddle_library(native FOLDER runtime/native DEPENDS heddle::runtime)\n"
                      "heddle_library(sim DEPENDS heddle::runtime)\n",
    "base/ids.hpp": "// Ids.\n#pragma once\n",
    "runtime/backend.hpp": '// The seam: simulated or native, wall clock or virtual time.\n#pragma once\n#include "base/ids.hpp"\n',
    "runtime/worker.hpp": '// Works. A "simple" name.\n#pragma once\n#include "runtime/backend.hpp"\n',
    "runtime/worker.cpp": '// Works.\n#include "runtime/worker.hpp"\n#include "base/ids.hpp"\nvirtual Time now();\n',
    "runtime/native/tcp.cpp": '// Sends.\n#include <thread>\n#include <sys/socket.h>\n#include "runtime/backend.hpp"\n'
                              "auto now = std::chrono::steady_clock::now();\n",
    "sim/simgrid/platform.cpp": '// Builds.\n#include <simgrid/s4u.hpp>\n',
    "sim/engine.cpp": '// Simulates. No std::thread here.\n#include "runtime/backend.hpp"\n'
                      'const char* text = "std::mutex, thread_local";\n',
}

# .cpp files of the cases that no target compiles; all others are compiled.
NOT_COMPILED = {"bench/optional.cpp", "bench/forgotten.cpp", "runtime/forgotten.cpp", "examples/mine/built.cpp", "examples/mine/forgotten.cpp"}

# What CMake leaves out, in the cases that have this file or break the rule "left out".
LEFT_OUT = {"bench/optional.cpp": "a library was not found"}


def with_files(files):
    return {**GOOD, **files}


def runtime_with(text):
    """The good tree with one more source file in runtime/."""
    return with_files({"runtime/more.cpp": '// More.\n#include "runtime/worker.hpp"\n' + text + "\n"})


def sim_with(text):
    return with_files({"sim/more.cpp": '// More.\n#include "runtime/backend.hpp"\n' + text + "\n"})


CASES = [
    (None, GOOD),
    (None, with_files({"examples/mine/CMakeLists.txt": "add_executable(mine built.cpp)\n",
                       "examples/mine/built.cpp": "// Mine.\n"})),
    (None, with_files({"tests/base_test.cpp": '// Tests.\n#include <thread>\n#include "base/ids.hpp"\n'})),
    (None, runtime_with("Time time(std::string_view name) const; auto t = settings.time(name); int timeout(0);")),
    (None, with_files({"bench/optional.cpp": "// Needs a library.\n"})),
    # The scheduler knows no model, and its states have types.
    (None, runtime_with("// As EARTH does.\nvoid* const memory = map(nullptr);")),
    ("core", runtime_with("class EarthQueue {};")),
    ("core", runtime_with("auto* program = dynamic_cast<Program*>(known);")),
    ("core", runtime_with("std::shared_ptr<void> state;")),
    ("core", runtime_with("struct Context { void* data = nullptr; };")),
    # The build without the simulator.
    (None, with_files({"sim/engine.hpp": "// Simulates.\n#pragma once\n",
                       "tests/sim_engine_test.cpp": '// Tests.\n#include "sim/engine.hpp"\n',
                       "tests/worlds_test.cpp": '// Tests.\n#ifdef HEDDLE_' 'SIM\n#include "sim/engine.hpp"\n#endif\n'})),
    ("simulator", with_files({"sim/engine.hpp": "// Simulates.\n#pragma once\n",
                              "tests/worlds.hpp": '// Worlds.\n#pragma once\n#include "sim/engine.hpp"\n',
                              "tests/worlds_test.cpp": '// Tests.\n#ifdef HEDDLE_' 'SIM\n#endif\n#include "tests/worlds.hpp"\n'})),
    # What points where.
    ("folder", with_files({"misc/thing.cpp": "// A thing.\n"})),
    ("folder", with_files({"thing.cpp": "// A thing.\n"})),
    ("include", with_files({"examples/own/more.hpp": '// More.\n#pragma once\n#include "ids.hpp"\n'})),
    ("include", with_files({"base/more.cpp": '// More.\n#include "ids.hpp"\n'})),
    ("arrow", sim_with('#include "runtime/worker.hpp"')),
    ("arrow", with_files({"sim/fiber.hpp": "// A fiber.\n#pragma once\n", "runtime/native/more.cpp":
                          '// More.\n#include "sim/fiber.hpp"\n', "CMakeLists.txt": ""})),
    ("include cycle", with_files({"base/a.hpp": '// A.\n#pragma once\n#include "base/b.hpp"\n',
                                  "base/b.hpp": '// B.\n#pragma once\n#include "base/a.hpp"\n'})),
    # A cycle of folders always has an arrow that points up as well.
    ({"folder cycle", "arrow"}, with_files({"base/more.cpp": '// More.\n#include "runtime/worker.hpp"\n', "CMakeLists.txt": "",
                                            "runtime/more.cpp": '// More.\n#include "base/ids.hpp"\n'})),
    ("unused link", with_files({"CMakeLists.txt": GOOD["CMakeLists.txt"] + "heddle_library(model DEPENDS heddle::base heddle::runtime)\n",
                                "model/fork.cpp": '// Fork.\n#include "base/ids.hpp"\n'})),
    ("missing link", with_files({"CMakeLists.txt": GOOD["CMakeLists.txt"] + "heddle_library(model DEPENDS heddle::base)\n",
                                 "model/fork.cpp": '// Fork.\n#include "base/ids.hpp"\n#include "runtime/worker.hpp"\n'})),
    # Files.
    ("unused header", with_files({"base/alone.hpp": "// Alone.\n#pragma once\n"})),
    ("no target", with_files({"runtime/forgotten.cpp": "// Forgotten.\n"})),
    ("no target", with_files({"bench/optional.cpp": "// Needs a library.\n", "bench/forgotten.cpp": "// Forgotten.\n"})),
    ("left out", GOOD),
    ("no target", with_files({"examples/mine/CMakeLists.txt": "add_executable(mine built.cpp)\n",
                              "examples/mine/forgotten.cpp": "// Forgotten.\n"})),
    ("length", runtime_with("int i;\n" * 500)),
    ("length", with_files({"tests/long_test.py": "x = 1\n" * 501})),
    ("opening", with_files({"base/more.cpp": "int i;\n"})),
    ("pragma once", with_files({"base/more.hpp": "// More.\n", "base/more.cpp": '// More.\n#include "base/more.hpp"\n'})),
    # The worlds stay apart.
    ("simgrid", with_files({"cli/more.cpp": "// More.\n#include <simgrid/s4u.hpp>\n"})),
    ("simgrid", with_files({"sim/more.cpp": "// More.\n#include <simgrid/s4u.hpp>\n"})),
    ("threads", runtime_with("std::thread thread;")),
    ("threads", runtime_with("#include <mutex>")),
    ("threads", runtime_with("flag.notify_one();")),
    ("threads", sim_with("pthread_create(&id, nullptr, run, nullptr);")),
    ("threads", with_files({"base/more.cpp": "// More.\nstd::condition_variable ready;\n"})),
    ("threads", sim_with("std::counting_semaphore<1> ready(0);")),
    ("sockets", with_files({"cli/more.cpp": "// More.\n#include <sys/socket.h>\n"})),
    ("sockets", sim_with("#include <netinet/in.h>")),
    ("clocks", sim_with("auto start = std::chrono::steady_clock::now();")),
    ("clocks", with_files({"results/more.cpp": "// More.\nauto start = time(nullptr);\n"})),
    ("clocks", with_files({"cli/more.cpp": "// More.\nclock_gettime(CLOCK_MONOTONIC, &t);\n"})),
    ("clocks", with_files({"results/more.cpp": "// More.\nauto start = std::time(&t);\n"})),
    ("thread_local", runtime_with("thread_local int current;")),
    ("thread_local", sim_with("static __thread int current;")),
    ("one file", runtime_with("#include <metis.h>")),
    ("one file", runtime_with("#include <cblas.h>")),
    ("one file", with_files({"partitioners/a.cpp": "// A.\n#include <scotch.h>\n",
                             "partitioners/b.cpp": "// B.\n#include <ptscotch.h>\n"})),
    # Words.
    (None, runtime_with("// Natively this is free; in simulation the clock says so, in virtual time. Over TCP, in-process.")),
    (None, runtime_with('const char* help = "simulated: the native socket\'s wall clock";')),
    (None, runtime_with("int alternative = similar; blocked(); walls_of(simple);")),
    ("seam words", runtime_with("if (simulated_) return;")),
    ("seam words", runtime_with("if (world == World::sim) return;")),
    ("seam words", runtime_with("bool is_native_;")),
    ("seam words", runtime_with("NativeBackend& backend;")),
    ("seam words", runtime_with("auto t = clock();")),
    ("seam words", runtime_with("Time virtual_time();")),
    ("seam words", runtime_with("enum class World { in_process };")),
    ("seam words", with_files({"workloads/builtin/fib.cpp": "// Fib.\nint tcp_port;\n"})),
    ("seam words", with_files({"partitioners/fib.cpp": "// Takes time.\nTime wall_time;\n"})),
    ("banned", runtime_with("using namespace std;")),
    ("banned", runtime_with("assert(x);")),
    ("banned", runtime_with("out << std::endl;")),
    ("banned", runtime_with("std::mt19937 random;")),
    ("banned", runtime_with("std::cout << 1;")),
    ("banned", runtime_with("std::atomic_thread_fence(std::memory_order_seq_cst);")),
    ("banned", with_files({"results/more.cpp": "// More.\n#ifdef HEDDLE_SIM\n#endif\n"})),
    ("banned", runtime_with("// TO" + "DO later")),
    ("places", with_files({"docs/more.md": "See /ho" + "me/me/heddle.\n"})),
]
