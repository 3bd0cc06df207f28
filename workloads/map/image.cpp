// Reads JPEG by libjpeg-turbo and writes PNG by libpng. Both report errors by a long jump or a call that must
// not return. So nothing with a destructor is made between them and the code that they leave.
#include "workloads/map/image.hpp"

#include <fmt/format.h>
#include <png.h>

#include <array>
#include <csetjmp>
#include <cstdio>

// After <cstdio>, which it needs.
#include <jpeglib.h>

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

/// Decodes into `into`; without it, tells the size only. False: `errors.text` says why not. Without objects
/// that a long jump would leave behind.
bool decode(const unsigned char* data, std::size_t size, JpegErrors& errors, std::uint32_t& width,
            std::uint32_t& height, std::uint8_t* into) {
    jpeg_decompress_struct info;
    info.err = jpeg_std_error(&errors.manager);
    errors.manager.error_exit = leave_decoder;
    errors.manager.emit_message = on_message;
    if (setjmp(errors.leave) != 0) {
        jpeg_destroy_decompress(&info);
        return false;
    }
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, data, static_cast<unsigned long>(size));
    jpeg_read_header(&info, TRUE);
    if (!into) {
        width = info.image_width;
        height = info.image_height;
        jpeg_destroy_decompress(&info);
        return true;
    }
    info.out_color_space = JCS_RGB;
    jpeg_start_decompress(&info);
    while (info.output_scanline < info.output_height) {
        JSAMPROW row = into + std::size_t{3} * width * info.output_scanline;
        jpeg_read_scanlines(&info, &row, 1);
    }
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    return true;
}

}  // namespace

Image read_jpeg(const std::string& path) {
    const std::string text = read_input(path, {.text = false});
    const auto* const data = reinterpret_cast<const unsigned char*>(text.data());
    JpegErrors errors{};
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    const auto refuse = [&] {
        throw Error(fmt::format("no whole JPEG image: {}", errors.text.data()),
                    "take a file that other programs show", {path, 0});
    };
    if (!decode(data, text.size(), errors, width, height, nullptr)) refuse();
    need_memory(3.0 * width * height, fmt::format("an image of {} x {} pixels", width, height),
                "take a smaller one", {path, 0});
    Image image(width, height);
    if (!decode(data, text.size(), errors, width, height, image.rgb.data())) refuse();
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
