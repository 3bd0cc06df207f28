// The style, script and plotly.js of the report's page, which the build compiles into the program.
#pragma once

#include <string_view>

namespace heddle::report {

std::string_view page_css();
std::string_view page_js();
/// plotly.js, compressed by gzip, in base64. Empty if the build has not found it.
std::string_view plotly_js_gz_base64();

}  // namespace heddle::report
