// stream: in each pair one thread sends messages to the other as fast as it can, with several under way (the
// pattern of osu_bw, osu_mbw_mr of the OSU Micro-Benchmarks and of Uniband of the Intel MPI Benchmarks).
#include <vector>

#include "workloads/thread_pairs.hpp"

namespace heddle::workloads {

namespace {

using namespace pairs;

/// Receives them in windows: all receives of one are begun before the first is tested. Answers the last one.
void sink(Thread& self, Exchange exchange) {
    std::vector<Letter> letters =
        write_letters(self, {.blank = std::min(exchange.window, exchange.messages)}, exchange.bytes);
    Result result;
    Actual actual;
    for (std::uint64_t done = 0; done < exchange.messages;) {
        const std::uint64_t now = std::min(exchange.window, exchange.messages - done);
        std::vector<Handle> handles;
        for (std::uint64_t i = 0; i < now; ++i)
            handles.push_back(letters[i].begin_receive(self, {.tag = 0}, exchange.dma, &actual));
        for (std::uint64_t i = 0; i < now; ++i) {
            self.test_handle(handles[i], Mode::blocking);
            ++result.messages;
            if (letters[i].number() != cut(done + i, exchange.bytes)) ++result.wrong;
        }
        done += now;
    }
    result.wrong += count_damaged(self, letters);
    self.send(actual.from, 1, result);
}

void source(Thread& self, ThreadId partner, ThreadId main, Exchange exchange) {
    std::vector<Letter> letters =
        write_letters(self, {.written = std::min(exchange.window, exchange.messages)}, exchange.bytes);
    std::vector<Handle> handles(letters.size());
    const double begin = seconds_of(self);
    for (std::uint64_t i = 0; i < exchange.messages; ++i) {
        const std::size_t place = i % letters.size();
        self.test_handle(handles[place], Mode::blocking);
        if (exchange.dma) letters[place].own();
        letters[place].write(i);
        handles[place] = letters[place].begin_send(self, partner, exchange.dma);
    }
    for (Handle& handle : handles) self.test_handle(handle, Mode::blocking);
    auto result = self.receive<Result>({.thread = partner, .tag = 1});
    result.begin = begin;
    result.end = seconds_of(self);
    self.send(main, 0, result);
}

runtime::Answer rates(const Total& total, const Exchange& exchange) {
    const double rate = total.span > 0 ? static_cast<double>(total.messages) / total.span : 0;
    const auto max = runtime::AnswerValue::Combine::max;
    return {{"messages_per_second", rate, max},
            {"bytes_per_second", rate * static_cast<double>(exchange.bytes), max}};
}

const Registration registration{
    {"stream", "pairs of threads: one sends as fast as it can, the other receives: the rate",
     pairs::settings(
         {{"window", SettingKind::integer, "64", "messages that are under way at once", {}, 1, 1e5}}),
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<PairsWorkload<source, sink, stream_bare>>(
             settings, settings.integer<std::uint64_t>("window"), rates);
     }}};

}  // namespace

}  // namespace heddle::workloads
