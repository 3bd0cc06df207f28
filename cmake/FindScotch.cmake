# Scotch of Debian 12 ships no CMake config. Defines Scotch::Scotch and Scotch_VERSION. It links libscotcherr, with which the
# library writes its complaints and its functions return an error.
find_path(Scotch_INCLUDE_DIR scotch.h PATH_SUFFIXES scotch)
find_library(Scotch_LIBRARY scotch)
find_library(Scotch_ERROR_LIBRARY scotcherr)
if(Scotch_INCLUDE_DIR AND EXISTS ${Scotch_INCLUDE_DIR}/scotch.h)
    file(STRINGS ${Scotch_INCLUDE_DIR}/scotch.h scotch_lines REGEX "^#define SCOTCH_(VERSION|RELEASE|PATCHLEVEL) +[0-9]+")
    string(REGEX REPLACE "[^;0-9]" "" scotch_numbers "${scotch_lines}")
    string(REPLACE ";" "." Scotch_VERSION "${scotch_numbers}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Scotch
    REQUIRED_VARS Scotch_LIBRARY Scotch_ERROR_LIBRARY Scotch_INCLUDE_DIR VERSION_VAR Scotch_VERSION)
if(Scotch_FOUND AND NOT TARGET Scotch::Scotch)
    add_library(Scotch::Scotch UNKNOWN IMPORTED)
    set_target_properties(Scotch::Scotch PROPERTIES
        IMPORTED_LOCATION ${Scotch_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${Scotch_INCLUDE_DIR}
        INTERFACE_LINK_LIBRARIES ${Scotch_ERROR_LIBRARY})
endif()
mark_as_advanced(Scotch_INCLUDE_DIR Scotch_LIBRARY Scotch_ERROR_LIBRARY)
