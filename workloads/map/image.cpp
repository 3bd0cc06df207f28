// Reads JPEG by libjpeg-turbo and writes PNG by libpng. Both report errors by a long jump or a call that must
// not return. So nothing with a destructor is made between them and the code that they leave.
#include "workloads/map/image.hpp"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstring>

// After <cstdio>, which it needs.
#include <jpeglib.h>

#include "base/assert.hpp"
#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/memory_need.hpp"
#include "base/output_file.hpp"

namespace heddle::workloads::map {

namespace {

/// What libjpeg-turbo calls when a file is bad.
struct JpegErrors {
    jpeg_error_mgr manager;  ///< first: the library has its address
    std::jmp_buf leave;
    std::array<char, JMSG_LENGTH_MAX> text;
};

[[noreturn]] void leave_decoder(j_common_ptr info) {
    auto* const errors = reinterpret_cast<JpegErrors*>(info->err);
    info->err->format_message(info, errors->text.data());
    std::longjmp(errors->leave, 1);
}

/// Warnings, such as of a file that is cut off, are errors.
void on_message(j_common_ptr info, int level) {
    if (level < 0) leave_decoder(info);
}

/// Chroma is smoothed over the edges of blocks, so pixels depend on what is next to them. Blocks have 32
/// pixels in a row at most.
constexpr std::uint32_t margin = 32;

struct Input {
    const unsigned char* data;
    std::size_t size;
};

/// Sets width and height. False: `errors.text` says why not. Without objects that a long jump would leave
/// behind, as `decode_rows`.
bool read_size(const Input& input, JpegErrors& errors, std::uint32_t& width, std::uint32_t& height) {
    jpeg_decompress_struct info;
    info.err = jpeg_std_error(&errors.manager);
    errors.manager.error_exit = leave_decoder;
    errors.manager.emit_message = on_message;
    if (setjmp(errors.leave) != 0) {
        jpeg_destroy_decompress(&info);
        return false;
    }
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, input.data, static_cast<unsigned long>(input.size));
    jpeg_read_header(&info, TRUE);
    width = info.image_width;
    height = info.image_height;
    jpeg_destroy_decompress(&info);
    return true;
}

/// Decodes the part into `into`. `row` has room for a row of the whole image.
bool decode_rows(const Input& input, JpegErrors& errors, const Rectangle& part, std::uint8_t* row,
                 std::uint8_t* into) {
    jpeg_decompress_struct info;
    info.err = jpeg_std_error(&errors.manager);
    errors.manager.error_exit = leave_decoder;
    errors.manager.emit_message = on_message;
    if (setjmp(errors.leave) != 0) {
        jpeg_destroy_decompress(&info);
        return false;
    }
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, input.data, static_cast<unsigned long>(input.size));
    jpeg_read_header(&info, TRUE);
    info.out_color_space = JCS_RGB;
    jpeg_start_decompress(&info);
    JDIMENSION left = 0;
#ifdef LIBJPEG_TURBO_VERSION
    if (part.width < info.output_width) {
        left = part.x > margin ? part.x - margin : 0;
        const JDIMENSION end = part.x + part.width + margin;
        JDIMENSION columns = (end < info.output_width ? end : info.output_width) - left;
        jpeg_crop_scanline(&info, &left, &columns);  // moves `left` to the edge of a block
    }
    if (part.y > margin) jpeg_skip_scanlines(&info, part.y - margin);
#endif
    while (info.output_scanline < part.y + part.height) {
        const JDIMENSION at = info.output_scanline;
        jpeg_read_scanlines(&info, &row, 1);
        if (at < part.y) continue;
        std::memcpy(into + std::size_t{3} * part.width * (at - part.y),
                    row + std::size_t{3} * (part.x - left), std::size_t{3} * part.width);
    }
    // All of it: then what is wrong at the end of the file is found too.
    if (info.output_scanline == info.output_height) jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    return true;
}

Input input_of(const std::string& text) {
    return {reinterpret_cast<const unsigned char*>(text.data()), text.size()};
}

[[noreturn]] void refuse(const std::string& path, const JpegErrors& errors) {
    throw Error(fmt::format("no whole JPEG image: {}", errors.text.data()),
                "take a file that other programs show", {path, 0});
}

}  // namespace

Rectangle Rectangle::common(const Rectangle& other) const {
    const std::uint32_t left = std::max(x, other.x);
    const std::uint32_t top = std::max(y, other.y);
    const std::uint32_t right = std::min(x + width, other.x + other.width);
    const std::uint32_t bottom = std::min(y + height, other.y + other.height);
    if (left >= right || top >= bottom) return {};
    return {left, top, right - left, bottom - top};
}

JpegFile::JpegFile(const std::string& path) : path_(path), text_(read_input(path, {.text = false})) {
    JpegErrors errors{};
    if (!read_size(input_of(text_), errors, width_, height_)) refuse(path_, errors);
}

Image JpegFile::decode(const Rectangle& part) const {
    HEDDLE_ASSERT(part.common({0, 0, width_, height_}).pixels() == part.pixels());
    need_memory(3.0 * static_cast<double>(part.pixels()),
                fmt::format("an image of {} x {} pixels", part.width, part.height), "take a smaller one",
                {path_, 0});
    Image image(part.width, part.height);
    std::vector<std::uint8_t> row(std::size_t{3} * width_);
    JpegErrors errors{};
    if (!decode_rows(input_of(text_), errors, part, row.data(), image.rgb.data())) refuse(path_, errors);
    return image;
}

void write_png(const Image& image, const std::string& path) {
    png_image png{};
    png.version = PNG_IMAGE_VERSION;
    png.width = image.width;
    png.height = image.height;
    png.format = PNG_FORMAT_RGB;
    png_alloc_size_t bytes = 0;
    std::string text;
    const auto encode = [&](void* memory) {
        return png_image_write_to_memory(&png, memory, &bytes, 0, image.rgb.data(), 0, nullptr) != 0;
    };
    bool right = encode(nullptr);  // how many bytes
    if (right) {
        text.resize(bytes);
        right = encode(text.data());
    }
    if (!right) throw Error(fmt::format("the image cannot be written: {}", png.message), "", {path, 0});
    write_file(path, text);
}

}  // namespace heddle::workloads::map
