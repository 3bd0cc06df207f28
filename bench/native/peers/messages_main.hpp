// Shared by the message benchmarks: PROGRAM latency|rate|bulk BYTES COUNT [WORD...], and the printed result.
// The sender waits for one answer after COUNT messages; for latency, each message is sent back.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include "bench/native/outcome.hpp"

namespace heddle::bench {

struct Exchange {
    bool latency = false;
    std::size_t bytes = 8;
    long count = 1;
    std::string words;  ///< further ones, each after a blank

    bool says(std::string_view word) const { return words.find(word) != std::string::npos; }

    /// The number after `name` among the words.
    long number(const std::string& name, long otherwise) const {
        const auto place = words.find(name);
        return place == std::string::npos ? otherwise : std::stol(words.substr(place + name.size()));
    }

    static Exchange read(int argc, char** argv) {
        if (argc < 4) {
            std::fprintf(stderr, "usage: %s latency|rate|bulk BYTES COUNT [WORD...]\n", argv[0]);
            std::exit(2);
        }
        Exchange exchange{
            std::string_view(argv[1]) == "latency", std::stoul(argv[2]), std::stol(argv[3]), {}};
        for (int i = 4; i < argc; ++i) exchange.words += std::string(" ") + argv[i];
        return exchange;
    }

    void report(double seconds) const {
        const auto messages = static_cast<double>(count);
        Outcome outcome;
        outcome.add("seconds", seconds);
        if (latency) {
            outcome.add("one_way_us", seconds / (2 * messages) * 1e6);
        } else {
            outcome.add("messages_per_second", messages / seconds);
            outcome.add("gigabytes_per_second", messages * static_cast<double>(bytes) / seconds / 1e9);
        }
        outcome.add("peak_mb", peak_mb()).print();
    }
};

}  // namespace heddle::bench
