// ping_pong: pairs of threads send a message to and fro (the pattern of PingPong of the Intel MPI Benchmarks
// and of osu_latency of the OSU Micro-Benchmarks).
#include "workloads/thread_pairs.hpp"

namespace heddle::workloads {

namespace {

using namespace pairs;

/// Sends what has come back, its number increased.
void pong(Thread& self, Exchange exchange) {
    std::vector<Letter> letters = write_letters(self, {.blank = 1}, exchange.bytes);
    Letter& letter = letters.front();
    Actual actual;
    for (std::uint64_t i = 0; i < exchange.messages; ++i) {
        letter.receive(self, {}, exchange.dma, &actual);
        if (exchange.dma) letter.own();
        letter.write(letter.number() + 1);
        letter.send(self, actual.from, exchange.dma);
    }
}

void ping(Thread& self, ThreadId partner, ThreadId main, Exchange exchange) {
    std::vector<Letter> letters = write_letters(self, {.written = 1, .blank = 1}, exchange.bytes);
    Letter& letter = letters.front();
    // A block that arrives replaces the letter's. Bytes are copied into a letter that was blank.
    Letter& answer = exchange.dma ? letter : letters.back();
    Result result;
    result.begin = seconds_of(self);
    for (std::uint64_t i = 0; i < exchange.messages; ++i) {
        if (exchange.dma) letter.own();
        letter.write(2 * i);
        letter.send(self, partner, exchange.dma);
        answer.receive(self, {.thread = partner}, exchange.dma);
        ++result.messages;
        if (answer.number() != cut(2 * i + 1, exchange.bytes)) ++result.wrong;
    }
    result.end = seconds_of(self);
    result.wrong += count_damaged(self, {&answer, 1});
    self.send(main, 0, result);
}

runtime::Answer one_way(const Total& total, const Exchange& exchange) {
    return {{"one_way", total.slowest / 2 / static_cast<double>(exchange.messages),
             runtime::AnswerValue::Combine::max}};
}

const Registration registration{
    {"ping_pong", "pairs of threads send a message to and fro: the time of one way", pairs::settings({}),
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<PairsWorkload<ping, pong, exchange_bare>>(settings, 1, one_way);
     }}};

}  // namespace

}  // namespace heddle::workloads
