// A tool of the build: writes assets.cpp, which has the files of the page as texts.
//
// usage: embed OUT.cpp page.css page.js [plotly.js]
#include <zlib.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace {

[[noreturn]] void fail(const std::string& problem) {
    std::fprintf(stderr, "embed: %s\n", problem.c_str());
    std::exit(1);
}

std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) fail(path + " cannot be read");
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// In gzip's format, without a time: equal bytes give equal bytes.
std::string compressed(const std::string& text) {
    z_stream stream{};
    constexpr int gzip_window = 15 + 16;
    if (deflateInit2(&stream, 9, Z_DEFLATED, gzip_window, 9, Z_DEFAULT_STRATEGY) != Z_OK) fail("no memory");
    std::string out(deflateBound(&stream, static_cast<uLong>(text.size())) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) fail("deflate did not end");
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

std::string base64(const std::string& bytes) {
    constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t word = 0;
        for (std::size_t k = 0; k < 3; ++k)
            word = word << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
        for (std::size_t k = 0; k < 4; ++k)
            text += i + k <= bytes.size() ? digits[word >> (18 - 6 * k) & 63] : '=';
    }
    return text;
}

/// A function that returns the text. Compilers limit the length of one literal, so there are many.
std::string function(const std::string& name, const std::string& text) {
    constexpr std::size_t piece = 8000;
    std::string out = "std::string_view " + name + "() {\n    static constexpr char text[] =\n";
    for (std::size_t i = 0; i < text.size() || i == 0; i += piece)
        out += "R\"~(" + text.substr(i, piece) + ")~\"\n";
    return out + "        ;\n    return {text, sizeof(text) - 1};\n}\n";
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4 && argc != 5) fail("usage: embed OUT.cpp page.css page.js [plotly.js]");
    std::ofstream out(argv[1], std::ios::binary);
    out << "// Made by report/embed from report/assets and plotly.js.\n#include \"report/assets.hpp\"\n\n"
        << "namespace heddle::report {\n"
        << function("page_css", read(argv[2])) << function("page_js", read(argv[3]))
        << function("plotly_js_gz_base64", argc == 5 ? base64(compressed(read(argv[4]))) : "")
        << "}  // namespace heddle::report\n";
    out.close();
    if (!out) fail(std::string(argv[1]) + " cannot be written");
    return 0;
}
