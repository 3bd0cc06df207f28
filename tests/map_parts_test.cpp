// Tests that a part of a JPEG file, decoded alone, has the bytes that it has in the whole image, which this
// test decodes by itself: all tiles, those that are cut off at the edges too, for each way to store colours.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

// After <cstdio>, which it needs.
#include <jpeglib.h>

#include "base/error.hpp"
#include "base/random.hpp"
#include "tests/seeds.hpp"
#include "workloads/map/tiles.hpp"

namespace heddle::workloads::map {
namespace {

/// How a file is stored.
struct Storage {
    const char* name;
    int columns = 1;  ///< pixels for which there is one value of chroma
    int rows = 1;
    bool progressive = false;
    bool grey = false;
    unsigned restart_rows = 0;  ///< of blocks, after which the coder begins again
};

/// Slopes, edges and noise.
Image drawn(std::uint32_t width, std::uint32_t height, std::uint64_t seed) {
    Random random(seed);
    Image image(width, height);
    for (std::uint32_t y = 0; y < height; ++y) {
        for (std::uint32_t x = 0; x < width; ++x) {
            std::uint8_t* const pixel = image.pixel(x, y);
            pixel[0] = static_cast<std::uint8_t>(x * 3 + random.below(40));
            pixel[1] = static_cast<std::uint8_t>((x / 7 + y / 5) % 2 == 0 ? 250 : y);
            pixel[2] = static_cast<std::uint8_t>(random.below(256));
        }
    }
    return image;
}

std::string encoded(const Image& image, const Storage& storage) {
    jpeg_compress_struct info;
    jpeg_error_mgr errors;
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    unsigned char* memory = nullptr;
    unsigned long bytes = 0;
    jpeg_mem_dest(&info, &memory, &bytes);
    info.image_width = image.width;
    info.image_height = image.height;
    info.input_components = 3;
    info.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_colorspace(&info, storage.grey ? JCS_GRAYSCALE : JCS_YCbCr);
    info.comp_info[0].h_samp_factor = storage.columns;
    info.comp_info[0].v_samp_factor = storage.rows;
    jpeg_set_quality(&info, 80, TRUE);
    info.restart_in_rows = static_cast<int>(storage.restart_rows);
    if (storage.progressive) jpeg_simple_progression(&info);
    jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < info.image_height) {
        auto* row = const_cast<JSAMPROW>(image.pixel(0, info.next_scanline));
        jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    std::string text(reinterpret_cast<const char*>(memory), bytes);
    std::free(memory);
    return text;
}

/// As any program decodes it: all rows, one after the other.
Image decoded(const std::string& text) {
    jpeg_decompress_struct info;
    jpeg_error_mgr errors;
    info.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    jpeg_read_header(&info, TRUE);
    info.out_color_space = JCS_RGB;
    jpeg_start_decompress(&info);
    Image image(info.output_width, info.output_height);
    while (info.output_scanline < info.output_height) {
        JSAMPROW row = image.pixel(0, info.output_scanline);
        jpeg_read_scanlines(&info, &row, 1);
    }
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    return image;
}

bool equals(const Image& part, const Rectangle& place, const Image& whole) {
    if (part.width != place.width || part.height != place.height) return false;
    for (std::uint32_t row = 0; row < place.height; ++row)
        if (!std::equal(part.pixel(0, row), part.pixel(0, row) + std::size_t{3} * place.width,
                        whole.pixel(place.x, place.y + row)))
            return false;
    return true;
}

class MapParts : public testing::TestWithParam<Storage> {
protected:
    /// A file of the test's own: other tests of this one run at the same time, in other processes.
    std::string write(const std::string& text) const {
        std::ofstream(path_, std::ios::binary) << text;
        return path_;
    }
    void TearDown() override { std::filesystem::remove(path_); }

private:
    std::string path_ = testing::TempDir() + "map-parts-" + std::to_string(::getpid()) + ".jpg";
};

INSTANTIATE_TEST_SUITE_P(Storages, MapParts,
                         testing::Values(Storage{"full"}, Storage{"half_columns", 2, 1},
                                         Storage{"half_rows", 1, 2}, Storage{"quarter", 2, 2},
                                         Storage{"quarter_columns", 4, 1}, Storage{"eighth", 4, 2},
                                         Storage{"grey", 1, 1, false, true},
                                         Storage{"progressive", 2, 2, true},
                                         Storage{"restarts", 2, 2, false, false, 1}),
                         [](const auto& storage) { return std::string(storage.param.name); });

TEST_P(MapParts, EachTileHasTheBytesOfTheWholeImage) {
    for (const auto& [width, height] : {std::pair(301U, 203U), std::pair(256U, 160U), std::pair(97U, 33U)}) {
        const std::string text = encoded(drawn(width, height, width), GetParam());
        const Image whole = decoded(text);
        const JpegFile file(write(text));
        ASSERT_EQ(file.width(), width);
        ASSERT_EQ(file.height(), height);
        const Grid grid{{0, 0, width, height}, 64, 48};
        for (const Rectangle& tile : grid.tiles({grid.map, 1}))
            EXPECT_TRUE(equals(file.decode(tile), tile, whole))
                << "tile at " << tile.x << ", " << tile.y << " of " << width << " x " << height;
        EXPECT_TRUE(equals(file.decode(grid.map), grid.map, whole));
    }
}

TEST_P(MapParts, AnyRectangleHasTheBytesOfTheWholeImage) {
    const std::string text = encoded(drawn(211, 157, 7), GetParam());
    const Image whole = decoded(text);
    const JpegFile file(write(text));
    for (std::uint64_t seed = 1; seed <= testing_seeds::seeds(500); ++seed) {
        Random random(seed);
        const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random.below(end)); };
        Rectangle part{below(211), below(157), 0, 0};
        part.width = 1 + below(211 - part.x);
        part.height = 1 + below(157 - part.y);
        EXPECT_TRUE(equals(file.decode(part), part, whole))
            << part.x << ", " << part.y << ", " << part.width << ", " << part.height;
    }
}

// The map repeats the image: a region may pass its edge.
TEST_P(MapParts, APartOfARepeatedImageIsThatOfTheRepeatedWhole) {
    const std::string text = encoded(drawn(100, 60, 3), GetParam());
    const Image whole = decoded(text);
    const JpegFile file(write(text));
    for (const Rectangle& region :
         {Rectangle{10, 5, 50, 40}, Rectangle{90, 5, 20, 40}, Rectangle{110, 65, 30, 20},
          Rectangle{30, 50, 20, 30}, Rectangle{0, 0, 250, 130}, Rectangle{100, 60, 100, 60}}) {
        const Pixels pixels(file, region);
        const Image part = pixels.crop(region);
        for (std::uint32_t y = 0; y < region.height; ++y)
            for (std::uint32_t x = 0; x < region.width; ++x)
                ASSERT_TRUE(std::equal(part.pixel(x, y), part.pixel(x, y) + 3,
                                       whole.pixel((region.x + x) % 100, (region.y + y) % 60)))
                    << region.x << ", " << region.y << ": " << x << ", " << y;
    }
}

TEST_P(MapParts, AFileThatIsCutOffIsRefusedWhereItsPartNeedsTheRest) {
    const std::string text = encoded(drawn(200, 200, 5), GetParam());
    const JpegFile file(write(text.substr(0, text.size() / 2)));
    EXPECT_THROW(file.decode({0, 0, 200, 200}), Error);
    EXPECT_THROW(file.decode({10, 150, 20, 20}), Error);
}

}  // namespace
}  // namespace heddle::workloads::map
