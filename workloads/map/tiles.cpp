// Divides a region of a map into tiles, and scales tiles down. All arithmetic is in whole numbers, so the
// order in which parts of the image arrive changes nothing.
#include "workloads/map/tiles.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/fnv1a.hpp"
#include "runtime/comm/wire.hpp"

namespace heddle::workloads::map {

Rectangle View::block(std::uint32_t column, std::uint32_t row) const {
    const Rectangle whole{region.x + column * factor, region.y + row * factor, factor, factor};
    return whole.common(region);
}

std::vector<Rectangle> Grid::tiles(const View& view) const {
    std::vector<Rectangle> all;
    const Rectangle shown = view.region.common(map);
    if (shown.empty()) return all;
    for (std::uint32_t row = shown.y / tile_height; row * tile_height < shown.y + shown.height; ++row)
        for (std::uint32_t column = shown.x / tile_width; column * tile_width < shown.x + shown.width;
             ++column)
            all.push_back(
                Rectangle{column * tile_width, row * tile_height, tile_width, tile_height}.common(map));
    return all;
}

Fragment scale_down(const Image& tile, const Rectangle& place, const View& view) {
    const Rectangle shown = place.common(view.region);
    Fragment fragment;
    if (shown.empty()) return fragment;
    const std::uint32_t left = (shown.x - view.region.x) / view.factor;
    const std::uint32_t top = (shown.y - view.region.y) / view.factor;
    const std::uint32_t right = (shown.x + shown.width - 1 - view.region.x) / view.factor;
    const std::uint32_t bottom = (shown.y + shown.height - 1 - view.region.y) / view.factor;
    fragment.at = {left, top, right - left + 1, bottom - top + 1};
    fragment.sums.resize(3 * fragment.at.pixels());
    for (std::uint32_t y = shown.y; y < shown.y + shown.height; ++y) {
        const std::uint32_t row = (y - view.region.y) / view.factor - top;
        const std::uint8_t* pixel = tile.pixel(shown.x - place.x, y - place.y);
        for (std::uint32_t x = shown.x; x < shown.x + shown.width; ++x, pixel += 3) {
            const std::uint32_t column = (x - view.region.x) / view.factor - left;
            std::uint32_t* const sum = &fragment.sums[3 * (std::size_t{row} * fragment.at.width + column)];
            for (int colour = 0; colour < 3; ++colour) sum[colour] += pixel[colour];
        }
    }
    return fragment;
}

Canvas::Canvas(const View& view) : view_(view), sums_(std::size_t{3} * view.width() * view.height()) {}

void Canvas::add(const Fragment& fragment) {
    const Rectangle& at = fragment.at;
    const Rectangle within = at.common({0, 0, view_.width(), view_.height()});
    if (within.pixels() != at.pixels() || fragment.sums.size() != 3 * at.pixels())
        throw runtime::MalformedMessage("a fragment of the map is not within the image");
    for (std::uint32_t row = 0; row < at.height; ++row) {
        const std::size_t from = std::size_t{3} * row * at.width;
        const std::size_t to = 3 * (std::size_t{at.y + row} * view_.width() + at.x);
        for (std::size_t i = 0; i < std::size_t{3} * at.width; ++i) sums_[to + i] += fragment.sums[from + i];
    }
}

Image Canvas::image() const {
    Image image(view_.width(), view_.height());
    for (std::uint32_t row = 0; row < image.height; ++row) {
        for (std::uint32_t column = 0; column < image.width; ++column) {
            const auto pixels = static_cast<std::uint32_t>(view_.block(column, row).pixels());
            const std::uint32_t* const sum = &sums_[3 * (std::size_t{row} * image.width + column)];
            for (int colour = 0; colour < 3; ++colour)
                image.pixel(column, row)[colour] =
                    static_cast<std::uint8_t>((sum[colour] + pixels / 2) / pixels);
        }
    }
    return image;
}

double digest(const Image& image) {
    Fnv1a hash(image.width);
    for (const std::uint8_t byte : image.rgb) hash.add(byte);
    return static_cast<double>(hash.value() >> 24);
}

namespace {

/// Where `length` pixels from `begin` on lie in a row of `size` pixels that is repeated: all of it, if they
/// pass its end.
std::pair<std::uint32_t, std::uint32_t> within(std::uint32_t begin, std::uint32_t length,
                                               std::uint32_t size) {
    const std::uint32_t first = begin % size;
    if (length > size - first) return {0, size};
    return {first, length};
}

}  // namespace

Pixels::Pixels(const JpegFile& file, const Rectangle& region) : width_(file.width()), height_(file.height()) {
    std::tie(part_.x, part_.width) = within(region.x, region.width, width_);
    std::tie(part_.y, part_.height) = within(region.y, region.height, height_);
    image_ = file.decode(part_);
}

Image Pixels::crop(const Rectangle& place) const {
    Image cropped(place.width, place.height);
    for (std::uint32_t row = 0; row < place.height; ++row)
        width_ != 0 ? copy_row(place, row, cropped) : draw_row(place, row, cropped);
    return cropped;
}

void Pixels::copy_row(const Rectangle& place, std::uint32_t row, Image& into) const {
    const std::uint32_t y = (place.y + row) % height_ - part_.y;
    for (std::uint32_t column = 0; column < place.width;) {
        const std::uint32_t x = (place.x + column) % width_;
        const std::uint32_t count = std::min(place.width - column, width_ - x);
        std::copy_n(image_.pixel(x - part_.x, y), std::size_t{3} * count, into.pixel(column, row));
        column += count;
    }
}

/// Rings, a slope and a grid: a tile in a wrong place, or turned, looks wrong.
void Pixels::draw_row(const Rectangle& place, std::uint32_t row, Image& into) {
    const std::uint32_t y = place.y + row;
    for (std::uint32_t column = 0; column < place.width; ++column) {
        const std::uint32_t x = place.x + column;
        std::uint8_t* const pixel = into.pixel(column, row);
        pixel[0] = static_cast<std::uint8_t>((x * x + y * y) >> 12);
        pixel[1] = static_cast<std::uint8_t>((x + 2 * y) >> 4);
        pixel[2] = static_cast<std::uint8_t>(x % 640 < 8 || y % 480 < 8 ? 255 : 64);
    }
}

}  // namespace heddle::workloads::map
