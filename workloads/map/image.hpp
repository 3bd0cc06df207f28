// Images of red, green and blue bytes: read from JPEG files, written as PNG files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::workloads::map {

/// A rectangle of pixels.
struct Rectangle {
    std::uint32_t x = 0;
    std::uint32_t y = 0;
    std::uint32_t width = 0;
    std::uint32_t height = 0;

    bool empty() const { return width == 0 || height == 0; }
    std::uint64_t pixels() const { return std::uint64_t{width} * height; }
    /// What both have.
    Rectangle common(const Rectangle& other) const;
};

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

/// A JPEG file, which is read at once and decoded in part.
class JpegFile {
public:
    /// Throws Error, with the path, if it is none.
    explicit JpegFile(const std::string& path);

    std::uint32_t width() const { return width_; }
    std::uint32_t height() const { return height_; }

    /// The pixels of a part, which is within the image: the same bytes as in the whole image. Takes less time
    /// than that, and only the memory of the part. Throws Error, with the path, if the file is cut off before
    /// the end of the part, or the part does not fit into memory.
    Image decode(const Rectangle& part) const;

private:
    std::string path_;
    std::string text_;
    std::uint32_t width_ = 0;
    std::uint32_t height_ = 0;
};

/// Writes a PNG file: whole, or not at all. Throws Error, with the path.
void write_png(const Image& image, const std::string& path);

}  // namespace heddle::workloads::map
