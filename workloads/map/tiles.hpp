// A map of tiles, a region of it, and how the region is scaled down. Each pixel of the result is the mean of
// factor x factor pixels, rounded half up. At the region's edges fewer pixels count.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/comm/serialize.hpp"
#include "workloads/map/image.hpp"

namespace heddle::workloads::map {

/// What is to be shown. Plain bytes: it travels.
struct View {
    Rectangle region;
    std::uint32_t factor = 1;

    /// Of the result.
    std::uint32_t width() const { return (region.width + factor - 1) / factor; }
    std::uint32_t height() const { return (region.height + factor - 1) / factor; }
    /// The pixels of the map that one pixel of the result shows.
    Rectangle block(std::uint32_t column, std::uint32_t row) const;
};

/// The sizes of a map and its tiles. The last ones of a row or column are cut off.
struct Grid {
    Rectangle map;
    std::uint32_t tile_width = 640;
    std::uint32_t tile_height = 480;

    /// The tiles that a view shows, row after row.
    std::vector<Rectangle> tiles(const View& view) const;
};

/// What one tile adds to the result: sums of the pixels of each block, over what the tile has of it.
struct Fragment {
    Rectangle at;                     ///< in the result
    std::vector<std::uint32_t> sums;  ///< row after row, 3 for a pixel
};

/// `tile`: its pixels, which are at `place` of the map.
Fragment scale_down(const Image& tile, const Rectangle& place, const View& view);

/// Adds fragments until all have come.
class Canvas {
public:
    explicit Canvas(const View& view);

    /// Throws MalformedMessage if it is not within the result.
    void add(const Fragment& fragment);
    Image image() const;

private:
    View view_;
    std::vector<std::uint32_t> sums_;
};

/// A number below 2^40 that tells images apart.
double digest(const Image& image);

/// The pixels of a map: of an image, which is repeated to the map's size, or drawn by a formula. Of an image
/// only what a region needs is in memory.
class Pixels {
public:
    /// Drawn.
    Pixels() = default;
    /// Those of `region`, which is a part of the map. Throws Error as JpegFile::decode.
    Pixels(const JpegFile& file, const Rectangle& region);

    /// `place` is within the region.
    Image crop(const Rectangle& place) const;

private:
    void copy_row(const Rectangle& place, std::uint32_t row, Image& into) const;
    static void draw_row(const Rectangle& place, std::uint32_t row, Image& into);

    std::uint32_t width_ = 0;  ///< of the whole image; 0: drawn
    std::uint32_t height_ = 0;
    Rectangle part_;  ///< of it
    Image image_;     ///< the part
};

}  // namespace heddle::workloads::map

template <>
struct heddle::runtime::Serialize<heddle::workloads::map::Fragment> {
    using Fragment = heddle::workloads::map::Fragment;
    static void write(Writer& writer, const Fragment& fragment) {
        writer.put(fragment.at);
        Serialize<std::vector<std::uint32_t>>::write(writer, fragment.sums);
    }
    static Fragment read(Reader& reader) {
        const auto at = reader.get<heddle::workloads::map::Rectangle>();
        return {at, Serialize<std::vector<std::uint32_t>>::read(reader)};
    }
};
