// Images of red, green and blue bytes: read from JPEG files, written as PNG files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::workloads::map {

struct Image {
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    std::vector<std::uint8_t> rgb;  ///< row after row, 3 bytes a pixel

    Image() = default;
    /// Black.
    Image(std::uint32_t columns, std::uint32_t rows)
        : width(columns), height(rows), rgb(std::size_t{3} * columns * rows) {}

    std::uint8_t* pixel(std::uint32_t x, std::uint32_t y) { return &rgb[3 * (std::size_t{y} * width + x)]; }
    const std::uint8_t* pixel(std::uint32_t x, std::uint32_t y) const {
        return &rgb[3 * (std::size_t{y} * width + x)];
    }
};

/// The image of a JPEG file. Throws Error, with the path, if it is none, or is cut off, or does not fit into
/// memory.
Image read_jpeg(const std::string& path);

/// Writes a PNG file: whole, or not at all. Throws Error, with the path.
void write_png(const Image& image, const std::string& path);

}  // namespace heddle::workloads::map
