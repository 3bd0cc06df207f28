# Defines the functions that make a library of a folder.
include(GNUInstallDirs)

# A sanitizer makes a program ten times as large, and each test is a program: with shared libraries the code is linked once.
option(HEDDLE_SHARED "Link shared libraries: for builds of many large programs (sanitizers); such a build is not installed" OFF)
if(HEDDLE_SHARED)
    set(heddle_library_type SHARED)
    set(heddle_objects_type SHARED)
else()
    set(heddle_library_type STATIC)
    set(heddle_objects_type OBJECT)
endif()

# The files of a library share most of what they take to compile, headers and instances of templates, so eight of them are
# compiled as one. Then names in their anonymous namespaces must differ. With HEDDLE_UNITY off, and for clang-tidy, each file
# is compiled alone, and must include what it uses.
function(heddle_unite target)
    if(HEDDLE_UNITY)
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
        # gcc takes the anonymous namespace of a file that is included for that of a header, and the more it inlines the
        # more values it takes for uninitialized. Both warnings are on where each file is compiled alone.
        target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage -Wno-maybe-uninitialized>)
    endif()
endfunction()

# heddle_library(NAME [FOLDER folder] DEPENDS targets...): the library heddle_NAME (alias heddle::NAME) of the .cpp
# files in the folder and its subfolders, except subfolders that are libraries of their own and cli/main.cpp. A
# folder of headers only becomes an interface library.
function(heddle_library name)
    cmake_parse_arguments(arg "" "FOLDER" "DEPENDS" ${ARGN})
    if(NOT arg_FOLDER)
        set(arg_FOLDER ${name})
    endif()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${arg_FOLDER}/*.cpp)
    if(name STREQUAL "runtime")
        list(FILTER sources EXCLUDE REGEX "/runtime/(native|inprocess|stealing/builtin)/")
    elseif(name STREQUAL "workloads")
        list(FILTER sources EXCLUDE REGEX "/workloads/builtin/")
    elseif(name STREQUAL "sim")
        list(FILTER sources EXCLUDE REGEX "/sim/simgrid/")
    elseif(name STREQUAL "report")
        list(FILTER sources EXCLUDE REGEX "/report/embed/")
    endif()
    list(FILTER sources EXCLUDE REGEX "/cli/main\\.cpp$")
    if(sources)
        add_library(heddle_${name} ${heddle_library_type} ${sources})
        # Without the macro that CMake gives each shared library: a precompiled header is used with the macros it was made with.
        set_target_properties(heddle_${name} PROPERTIES DEFINE_SYMBOL "")
        target_link_libraries(heddle_${name} PRIVATE $<BUILD_INTERFACE:heddle_options>)
        heddle_unite(heddle_${name})
        set(scope PUBLIC)
    else()
        add_library(heddle_${name} INTERFACE)
        set(scope INTERFACE)
    endif()
    add_library(heddle::${name} ALIAS heddle_${name})
    target_compile_features(heddle_${name} ${scope} cxx_std_20)
    target_include_directories(heddle_${name} ${scope}
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/heddle>)
    target_link_libraries(heddle_${name} ${scope} ${arg_DEPENDS})
endfunction()

# heddle_precompile(HEADERS headers... FOR libraries...): headers that most files of the libraries include are compiled once.
# The libraries have the same compiler options. Files that are compiled alone, with HEDDLE_UNITY off, include what they use.
function(heddle_precompile)
    cmake_parse_arguments(arg "" "" "HEADERS;FOR" ${ARGN})
    list(POP_FRONT arg_FOR first)
    if(HEDDLE_UNITY)
        target_precompile_headers(heddle_${first} PRIVATE ${arg_HEADERS})
        foreach(library ${arg_FOR})
            if(TARGET heddle_${library})
                target_precompile_headers(heddle_${library} REUSE_FROM heddle_${first})
            endif()
        endforeach()
    endif()
endfunction()

# heddle_leave_out(REASON files...): says that this build compiles none of these files, and why. The files are written
# to left_out.txt in the build directory, one a line; tests/layering_test.py takes every other file that no target
# compiles for forgotten.
function(heddle_leave_out reason)
    foreach(file ${ARGN})
        cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
        cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
        set_property(GLOBAL APPEND_STRING PROPERTY heddle_left_out "${file}: ${reason}\n")
    endforeach()
endfunction()

# Writes left_out.txt. The caller must have declared every target before.
function(heddle_write_left_out)
    get_property(lines GLOBAL PROPERTY heddle_left_out)
    file(WRITE ${PROJECT_BINARY_DIR}/left_out.txt "${lines}")
endfunction()

# heddle_objects(NAME PATTERN DEPENDS targets... [HEADERS files...]): the files that match, as object library heddle_NAME (alias
# heddle::NAME). A binary that links it gets every object, needed or not; with HEDDLE_SHARED it loads them as a library.
function(heddle_objects name pattern)
    cmake_parse_arguments(arg "" "" "DEPENDS;HEADERS" ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${pattern})
    add_library(heddle_${name} ${heddle_objects_type} ${sources})
    add_library(heddle::${name} ALIAS heddle_${name})
    target_link_libraries(heddle_${name} PUBLIC ${arg_DEPENDS} PRIVATE $<BUILD_INTERFACE:heddle_options>)
    # Each registers itself under the same name, so they cannot be united.
    heddle_precompile(HEADERS ${arg_HEADERS} FOR ${name})
endfunction()
