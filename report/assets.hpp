// The files that are built into the program for the page: report/assets, and plotly.js.
#pragma once

#include <string_view>

namespace heddle::report {

std::string_view page_css();
std::string_view page_js();
/// plotly.js, compressed by gzip, in base64. Empty if the build has not found it.
std::string_view plotly_js_gz_base64();

}  // namespace heddle::report
