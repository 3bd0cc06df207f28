# Builds sim/simgrid, which calls SimGrid, as a library that the program loads when it first simulates, and puts the
# library's bytes into heddle_sim (sim/simgrid_module.hpp says why).
file(GLOB simgrid_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/sim/simgrid/*.cpp)
add_library(heddle_simgrid MODULE ${simgrid_sources} ${PROJECT_SOURCE_DIR}/sim/route_structure.cpp)
target_link_libraries(heddle_simgrid PRIVATE heddle::base PkgConfig::simgrid heddle_options)
set_target_properties(heddle_simgrid PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
heddle_unite(heddle_simgrid)
# Its copy of heddle::base is its own. Nothing but its one table is looked up in it.
target_link_options(heddle_simgrid PRIVATE LINKER:--exclude-libs,ALL $<$<CONFIG:Release>:LINKER:--strip-all>)

set(simgrid_module ${PROJECT_BINARY_DIR}/libheddle_simgrid.so)
set_source_files_properties(${PROJECT_SOURCE_DIR}/sim/simgrid_module.cpp PROPERTIES
    SKIP_UNITY_BUILD_INCLUSION ON OBJECT_DEPENDS ${simgrid_module}
    COMPILE_DEFINITIONS HEDDLE_SIMGRID_MODULE="${simgrid_module}")
add_dependencies(heddle_sim heddle_simgrid)
