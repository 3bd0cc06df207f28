# Defines what `cmake --install` installs and find_package(heddle) finds. These are the targets heddle::main (a binary
# with every verb), heddle::builtin_workloads and the library of each folder. Headers are below include/heddle.
include(CMakePackageConfigHelpers)

set(folders base host memory graphs runtime model calibration partitioners workloads configs results report cli)
set(targets heddle_base heddle_host heddle_memory heddle_graphs heddle_runtime heddle_policies heddle_inprocess heddle_native heddle_partitioners heddle_model heddle_calibration heddle_workloads
    heddle_builtin_workloads heddle_configs heddle_results heddle_report heddle_cli heddle_main)
if(HEDDLE_SIM)
    list(APPEND folders sim)
    list(APPEND targets heddle_sim)
endif()
foreach(target ${targets})
    string(REPLACE heddle_ "" short ${target})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${short})
endforeach()

install(TARGETS heddle RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS ${targets} EXPORT heddle
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/heddle
    OBJECTS DESTINATION ${CMAKE_INSTALL_LIBDIR}/heddle)
foreach(folder ${folders})
    install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heddle FILES_MATCHING PATTERN "*.hpp")
endforeach()
install(DIRECTORY configs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle FILES_MATCHING PATTERN "*.yaml" PATTERN "*.json" PATTERN "*.xml")

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/heddle)
install(EXPORT heddle NAMESPACE heddle:: FILE heddle-targets.cmake DESTINATION ${package_folder})
configure_package_config_file(cmake/heddle-config.cmake.in ${PROJECT_BINARY_DIR}/heddle-config.cmake
    INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/heddle-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/HeddleDependencies.cmake cmake/FindMETIS.cmake cmake/FindScotch.cmake
    ${PROJECT_BINARY_DIR}/heddle-config.cmake ${PROJECT_BINARY_DIR}/heddle-config-version.cmake
    DESTINATION ${package_folder})
