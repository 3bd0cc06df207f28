# Builds the files of the report's page into the library heddle_report: style and script of report/assets, and plotly.js of
# Debian's package python3-plotly. Without plotly.js the page has tables and no figures.
find_file(HEDDLE_PLOTLY_JS NAMES plotly.min.js plotly.js NO_CMAKE_FIND_ROOT_PATH
    PATHS /usr/share/python3-plotly /usr/lib/python3/dist-packages/plotly/package_data
    DOC "plotly.js, for the pages that heddle report makes")
mark_as_advanced(HEDDLE_PLOTLY_JS)
if(NOT HEDDLE_PLOTLY_JS)
    message(WARNING "plotly.js is not there (Debian: python3-plotly): pages of heddle report will have no figures")
endif()

add_executable(report_embed report/embed/embed.cpp)
target_link_libraries(report_embed PRIVATE ZLIB::ZLIB heddle_options)
target_compile_features(report_embed PRIVATE cxx_std_20)
set(report_assets ${PROJECT_SOURCE_DIR}/report/assets/page.css ${PROJECT_SOURCE_DIR}/report/assets/page.js
    $<$<BOOL:${HEDDLE_PLOTLY_JS}>:${HEDDLE_PLOTLY_JS}>)
set(report_assets_cpp ${PROJECT_BINARY_DIR}/report_assets.cpp)
add_custom_command(OUTPUT ${report_assets_cpp}
    COMMAND report_embed ${report_assets_cpp} ${report_assets}
    DEPENDS report_embed ${report_assets} COMMAND_EXPAND_LISTS VERBATIM)
target_sources(heddle_report PRIVATE ${report_assets_cpp})
# Compilers warn of texts that are longer than the least that they must accept.
set_source_files_properties(${report_assets_cpp} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON COMPILE_OPTIONS "-w")
