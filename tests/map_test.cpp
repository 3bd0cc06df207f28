// Tests tiles, regions and scaling of the map program against numbers from the pCoR paper (section 7). Every
// region made of tiles equals the region as a whole.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "base/error.hpp"
#include "base/random.hpp"
#include "workloads/map/tiles.hpp"

namespace heddle::workloads::map {
namespace {

constexpr Grid paper{{0, 0, 9600, 9600}, 640, 480};

View square(std::uint32_t pixels, std::uint32_t factor) {
    return {{0, 0, pixels, pixels}, factor};
}

// The paper: 2 to 300 images for seven regions, at 1:1, 1:2, 1:4, 1:5, 1:8, 1:10 and 1:16, in a window of 600
// x 600.
TEST(Map, TheSevenRegionsOfThePaperHaveTheirTiles) {
    const std::pair<std::uint32_t, std::size_t> regions[] = {{1, 2},  {2, 6},    {4, 20},  {5, 35},
                                                             {8, 80}, {10, 130}, {16, 300}};
    for (const auto& [factor, tiles] : regions) {
        const View view = square(600 * factor, factor);
        EXPECT_EQ(paper.tiles(view).size(), tiles) << factor;
        EXPECT_EQ(view.width(), 600U);
        EXPECT_EQ(view.height(), 600U);
    }
}

// The paper: "a 40x30 bitmap fragment" of each 640 x 480 image at 1:16.
TEST(Map, ATileAtASixteenthHasFortyByThirtyPixels) {
    const View view = square(9600, 16);
    const Pixels pixels;
    for (const Rectangle& tile : {paper.tiles(view).front(), paper.tiles(view).back()}) {
        const Fragment fragment = scale_down(pixels.crop(tile), tile, view);
        EXPECT_EQ(fragment.at.width, 40U);
        EXPECT_EQ(fragment.at.height, 30U);
    }
}

TEST(Map, AMeanIsRoundedHalfUp) {
    Image two(2, 1);
    for (int colour = 0; colour < 3; ++colour) {
        two.pixel(0, 0)[colour] = static_cast<std::uint8_t>(10 + colour);
        two.pixel(1, 0)[colour] = 11;
    }
    const View view{{0, 0, 2, 1}, 2};
    Canvas canvas(view);
    canvas.add(scale_down(two, view.region, view));
    const Image mean = canvas.image();
    ASSERT_EQ(mean.rgb.size(), 3U);
    EXPECT_EQ(mean.rgb[0], 11);  // 10.5
    EXPECT_EQ(mean.rgb[1], 11);
    EXPECT_EQ(mean.rgb[2], 12);  // 11.5
}

TEST(Map, TilesMakeTheWholeWhateverRegionAndFactor) {
    const Pixels pixels;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Random random(seed);
        const auto draw = [&](std::uint64_t below) {
            return static_cast<std::uint32_t>(random.below(below));
        };
        const Grid grid{{0, 0, 1 + draw(400), 1 + draw(400)}, 1 + draw(90), 1 + draw(90)};
        View view;
        view.region =
            Rectangle{draw(grid.map.width), draw(grid.map.height), 1 + draw(400), 1 + draw(400)}.common(
                grid.map);
        view.factor = 1 + draw(20);
        Canvas canvas(view);
        for (const Rectangle& tile : grid.tiles(view)) canvas.add(scale_down(pixels.crop(tile), tile, view));
        Canvas whole(view);
        whole.add(scale_down(pixels.crop(view.region), view.region, view));
        EXPECT_EQ(canvas.image().rgb, whole.image().rgb) << seed;
        // A pixel by its definition.
        const std::uint32_t column = draw(view.width());
        const std::uint32_t row = draw(view.height());
        const Image block = pixels.crop(view.block(column, row));
        double sum = 0;
        for (std::size_t i = 1; i < block.rgb.size(); i += 3) sum += block.rgb[i];
        EXPECT_EQ(whole.image().pixel(column, row)[1],
                  std::floor(3 * sum / static_cast<double>(block.rgb.size()) + 0.5));
    }
}

TEST(Map, AFragmentOutsideTheImageIsRefused) {
    const View view = square(100, 10);
    Canvas canvas(view);
    EXPECT_THROW(canvas.add({{9, 9, 2, 1}, std::vector<std::uint32_t>(6)}), Error);
    EXPECT_THROW(canvas.add({{0, 0, 2, 1}, std::vector<std::uint32_t>(5)}), Error);
}

TEST(Map, WhatIsNoImageIsRefused) {
    const std::string path = testing::TempDir() + "no-image.jpg";
    std::ofstream(path) << "\xff\xd8\xff\xe0 and no more";
    EXPECT_THROW(JpegFile{path}, Error);
    EXPECT_THROW(JpegFile{path + ".missing"}, Error);
}

}  // namespace
}  // namespace heddle::workloads::map
