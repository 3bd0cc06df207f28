// mass_spring: a chain of masses and springs that swings, in strips, as a loop of forks. The KAAPI paper's
// section 4.4 has this kind of program: a physical simulation with many short iterations. Each has a few
// tasks, which fork most of the work.
//
// A strip of springs reads the positions of its masses and makes tensions; a strip of masses reads the
// tensions on both sides of each mass. No sum is accumulated, so no order of tasks changes a bit.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "model/dataflow.hpp"
#include "workloads/group_placing.hpp"
#include "workloads/spring_chain.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

namespace {

using namespace dataflow;

using Numbers = std::vector<double>;

/// Masses `first` to `last`, the last not included, and the springs to the left of each. The last strip has
/// the spring at its right end as well.
struct Strip {
    SpringChain chain;
    std::int64_t first;
    std::int64_t last;

    std::size_t size() const { return static_cast<std::size_t>(last - first); }
    bool ends_chain() const { return last == chain.masses; }
    std::size_t springs() const { return size() + (ends_chain() ? 1 : 0); }
    double mode_at(std::size_t i) const { return chain.begins_at(first + static_cast<std::int64_t>(i)); }
};

/// A part of a strip: masses `begin` to `end`, counted from the strip's first.
struct Part {
    std::size_t begin;
    std::size_t end;
};

// --- the computation

/// `left`: the position of the mass before the strip.
Numbers tensions_of(const Strip& strip, Part part, double left, const Numbers& positions) {
    const bool to_the_end = part.end == strip.size() && strip.ends_chain();
    Numbers tensions(part.end - part.begin + (to_the_end ? 1 : 0));
    for (std::size_t i = 0; i < tensions.size(); ++i) {
        const std::size_t mass = part.begin + i;
        const double right = mass == strip.size() ? 0.0 : positions[mass];
        tensions[i] = strip.chain.stiffness * (right - (mass == 0 ? left : positions[mass - 1]));
    }
    return tensions;
}

/// `after`: the tension of the first spring behind the strip.
void move_masses(const Strip& strip, Part part, const Numbers& tensions, double after, double* positions,
                 double* velocities) {
    const double kick = strip.chain.kick();
    for (std::size_t i = part.begin; i < part.end; ++i) {
        const double right = i + 1 < tensions.size() ? tensions[i + 1] : after;
        double& velocity = velocities[i - part.begin];
        velocity += kick * (right - tensions[i]);
        positions[i - part.begin] += strip.chain.step * velocity;
    }
}

// --- tasks

void begin_masses(Thread& /*self*/, Strip strip, shared_w<Numbers> positions, shared_w<Numbers> velocities,
                  shared_w<double> last) {
    Numbers& position = positions.make(strip.size());
    Numbers& velocity = velocities.make(strip.size());
    for (std::size_t i = 0; i < strip.size(); ++i) {
        position[i] = strip.mode_at(i);
        velocity[i] = strip.chain.velocity_before(strip.first + static_cast<std::int64_t>(i));
    }
    last.write(position.back());
}

void strain(Thread& self, Strip strip, shared_r<double> left, shared_r<Numbers> positions,
            shared_w<Numbers> tensions, shared_w<double> first) {
    self.work(strip.size());
    const Numbers& made = tensions.make(tensions_of(strip, {0, strip.size()}, left, positions.read()));
    first.write(made.front());
}

void move(Thread& self, Strip strip, shared_r<Numbers> tensions, shared_r<double> after,
          shared_rw<Numbers> positions, shared_rw<Numbers> velocities, shared_w<double> last) {
    self.work(strip.size());
    Numbers& moved = positions.value();
    move_masses(strip, {0, strip.size()}, tensions.read(), after, moved.data(), velocities.value().data());
    last.write(moved.back());
}

// --- the same, where a strip's task forks the work

/// What parts of a strip have made, each with where it begins. The order does not matter.
using Pieces = std::vector<std::pair<std::uint64_t, Numbers>>;

struct Collect {
    void operator()(Pieces& into, const Pieces& more) const {
        into.insert(into.end(), more.begin(), more.end());
    }
};

Numbers whole_of(const Pieces& pieces, std::size_t size) {
    Numbers whole(size);
    for (const auto& [begin, piece] : pieces)
        std::ranges::copy(piece, whole.begin() + static_cast<std::ptrdiff_t>(begin));
    return whole;
}

void strain_part(Thread& self, Strip strip, Part part, shared_r<double> left, shared_r<Numbers> positions,
                 shared_cw<Pieces, Collect> tensions) {
    self.work(part.end - part.begin);
    tensions.add(Pieces{{part.begin, tensions_of(strip, part, left, positions.read())}});
}

void join_tensions(Thread& /*self*/, Strip strip, shared_r<Pieces> pieces, shared_w<Numbers> tensions,
                   shared_w<double> first) {
    const Numbers& made = tensions.make(whole_of(pieces, strip.springs()));
    first.write(made.front());
}

void strain_in_parts(Thread& self, Strip strip, std::uint64_t parts, shared_rp<double> left,
                     shared_rp<Numbers> positions, shared_wp<Numbers> tensions, shared_wp<double> first) {
    shared<Pieces> pieces(self);
    for (std::size_t i = 0; i < parts; ++i)
        self.fork<strain_part>(strip, Part{strip.size() * i / parts, strip.size() * (i + 1) / parts}, left,
                               positions, pieces);
    self.fork<join_tensions>(strip, pieces, tensions, first);
}

/// Of its part's masses the positions, and then the velocities.
void move_part(Thread& self, Strip strip, Part part, shared_r<Numbers> tensions, shared_r<double> after,
               shared_r<Numbers> positions, shared_r<Numbers> velocities, shared_cw<Pieces, Collect> moved) {
    self.work(part.end - part.begin);
    const auto begin = static_cast<std::ptrdiff_t>(part.begin), end = static_cast<std::ptrdiff_t>(part.end);
    Numbers position(positions.read().begin() + begin, positions.read().begin() + end);
    Numbers velocity(velocities.read().begin() + begin, velocities.read().begin() + end);
    move_masses(strip, part, tensions.read(), after, position.data(), velocity.data());
    moved.add(Pieces{{part.begin, std::move(position)}, {strip.size() + part.begin, std::move(velocity)}});
}

void join_masses(Thread& /*self*/, Strip strip, shared_r<Pieces> pieces, shared_w<Numbers> positions,
                 shared_w<Numbers> velocities, shared_w<double> last) {
    const Numbers both = whole_of(pieces, 2 * strip.size());
    const auto middle = both.begin() + static_cast<std::ptrdiff_t>(strip.size());
    const Numbers& moved = positions.make(both.begin(), middle);
    velocities.make(middle, both.end());
    last.write(moved.back());
}

void move_in_parts(Thread& self, Strip strip, std::uint64_t parts, shared_rp<Numbers> tensions,
                   shared_rp<double> after, shared_rpwp<Numbers> positions, shared_rpwp<Numbers> velocities,
                   shared_wp<double> last) {
    shared<Pieces> pieces(self);
    for (std::size_t i = 0; i < parts; ++i)
        self.fork<move_part>(strip, Part{strip.size() * i / parts, strip.size() * (i + 1) / parts}, tensions,
                             after, positions, velocities, pieces);
    self.fork<join_masses>(strip, pieces, positions, velocities, last);
}

// --- the measured frequency

/// How much of the mode the chain has, as a whole number, so that its sum is the same in every order.
using Amount = std::int64_t;
constexpr double amount_of_one = 1LL << 32;

struct Add {
    void operator()(Amount& into, Amount more) const { into += more; }
};

/// When that amount has changed its sign, in steps.
struct Crossings {
    std::int64_t step = 0;
    Amount before = 0;
    std::int64_t count = 0;
    double first = 0;
    double last = 0;

    void see(Amount now) {
        if ((before < 0) != (now < 0) && step != 0) {
            const double share = static_cast<double>(before) / static_cast<double>(before - now);
            last = static_cast<double>(step - 1) + share;
            if (count++ == 0) first = last;
        }
        before = now;
        ++step;
    }
};

void begin_amount(Thread& /*self*/, shared_w<Amount> amount) {
    amount = Amount{0};
}

void add_amount(Thread& self, Strip strip, shared_r<Numbers> positions, shared_cw<Amount, Add> amount) {
    self.work(strip.size());
    double sum = 0;
    for (std::size_t i = 0; i < strip.size(); ++i) sum += positions.read()[i] * strip.mode_at(i);
    amount.add(static_cast<Amount>(std::llround(sum * amount_of_one)));
}

void watch(Thread& /*self*/, shared_r<Amount> amount, shared_rw<Crossings> crossings) {
    crossings.value().see(amount);
}

// --- the program

struct SpringSettings {
    SpringChain chain;
    std::int64_t iterations;
    std::int64_t unrolled;
    std::int64_t strips;
    std::uint64_t parts;
    bool measured;
    double unit_cost;
};

class MassSpring final : public DataflowProgram {
public:
    /// `placer`: of the iterations; null if they are stolen.
    MassSpring(const SpringSettings& settings, const Placer* placer) : settings_(settings), placer_(placer) {}

    runtime::Work unit() const override { return {settings_.unit_cost, 0}; }

    bool places() const override { return placer_ != nullptr; }
    void main(Thread& self) override {
        const Chain chain(self, settings_);
        for (std::size_t i = 0; i < chain.strips.size(); ++i)
            self.fork<begin_masses>(chain.strips[i], chain.positions[i], chain.velocities[i],
                                    chain.last[i + 1]);
        const std::int64_t whole = settings_.iterations / settings_.unrolled;
        const std::int64_t rest = settings_.iterations % settings_.unrolled;
        if (placer_) {
            if (whole != 0) run_group(self, chain, settings_.unrolled, whole);
            if (rest != 0) run_group(self, chain, rest, 1);
        } else {
            for (std::int64_t i = 0; i < whole; ++i) fork_all(self, chain, settings_.unrolled, nullptr);
            fork_all(self, chain, rest, nullptr);
        }
        look_at(chain);
    }

    runtime::Answer answer() const override { return answer_; }

private:
    /// The objects of the program. `last[i + 1]` and `first[i]` are those of strip i: its last position, its
    /// first tension.
    struct Chain {
        Chain(Thread& self, const SpringSettings& settings) : amount(self), crossings(self, Crossings{}) {
            const std::int64_t n = settings.chain.masses;
            const std::int64_t count = std::min(settings.strips, n);
            last.emplace_back(self, 0.0);
            for (std::int64_t i = 0; i < count; ++i) {
                strips.push_back({settings.chain, n * i / count, n * (i + 1) / count});
                positions.emplace_back(self);
                velocities.emplace_back(self);
                tensions.emplace_back(self);
                last.emplace_back(self);
                first.emplace_back(self);
            }
            first.emplace_back(self, 0.0);
        }
        std::vector<Strip> strips;
        std::vector<shared<Numbers>> positions, velocities, tensions;
        std::vector<shared<double>> last, first;
        shared<Amount> amount;
        shared<Crossings> crossings;
    };

    /// Says what the next task costs, if it is recorded.
    void costs(GroupRecorder* recorder, const Strip& strip) const {
        if (recorder) recorder->next(settings_.unit_cost * static_cast<double>(strip.size()));
    }

    void fork_iteration(Thread& self, const Chain& chain, GroupRecorder* recorder) const {
        const std::size_t count = chain.strips.size();
        const std::uint64_t parts = settings_.parts;
        for (std::size_t i = 0; i < count; ++i) {
            const Strip& strip = chain.strips[i];
            costs(recorder, strip);
            if (parts == 1) {
                self.fork<strain>(strip, chain.last[i], chain.positions[i], chain.tensions[i],
                                  chain.first[i]);
            } else {
                self.fork<strain_in_parts>(strip, parts, chain.last[i], chain.positions[i], chain.tensions[i],
                                           chain.first[i]);
            }
        }
        for (std::size_t i = 0; i < count; ++i) {
            const Strip& strip = chain.strips[i];
            costs(recorder, strip);
            if (parts == 1) {
                self.fork<move>(strip, chain.tensions[i], chain.first[i + 1], chain.positions[i],
                                chain.velocities[i], chain.last[i + 1]);
            } else {
                self.fork<move_in_parts>(strip, parts, chain.tensions[i], chain.first[i + 1],
                                         chain.positions[i], chain.velocities[i], chain.last[i + 1]);
            }
        }
        if (!settings_.measured) return;
        self.fork<begin_amount>(chain.amount);
        for (std::size_t i = 0; i < count; ++i) {
            costs(recorder, chain.strips[i]);
            self.fork<add_amount>(chain.strips[i], chain.positions[i], chain.amount);
        }
        self.fork<watch>(chain.amount, chain.crossings);
    }

    void fork_all(Thread& self, const Chain& chain, std::int64_t iterations, GroupRecorder* recorder) const {
        for (std::int64_t i = 0; i < iterations; ++i) fork_iteration(self, chain, recorder);
        if (!recorder) self.sync();
    }

    void run_group(Thread& self, const Chain& chain, std::int64_t unrolled, std::int64_t times) const {
        Group group(self, *placer_, [&](GroupRecorder& recorder) {
            for (std::size_t i = 0; i < chain.strips.size(); ++i) {
                const double bytes = sizeof(double) * static_cast<double>(chain.strips[i].size());
                recorder.bytes(chain.positions[i], bytes);
                recorder.bytes(chain.velocities[i], bytes);
                recorder.bytes(chain.tensions[i], bytes);
            }
            fork_all(self, chain, unrolled, &recorder);
        });
        group.run(static_cast<std::uint32_t>(times));
    }

    /// How far the chain is from the known answer, and a number that follows from its bits.
    void look_at(const Chain& chain) {
        Numbers positions, velocities;
        for (std::size_t i = 0; i < chain.strips.size(); ++i) {
            const auto append = [](Numbers& to, const Numbers& more) {
                to.insert(to.end(), more.begin(), more.end());
            };
            append(positions, chain.positions[i].read());
            append(velocities, chain.velocities[i].read());
        }
        const auto steps = static_cast<double>(settings_.iterations);
        const double swing = settings_.chain.swing(steps);
        double deviation = 0;
        for (std::size_t i = 0; i < positions.size(); ++i) {
            const double known = swing * settings_.chain.begins_at(static_cast<std::int64_t>(i));
            deviate(deviation, positions[i], known);
        }
        answer_ = {
            {"iterations", steps}, {"deviation", deviation}, {"digest", digest_of(positions, velocities)}};
        if (!settings_.measured) return;
        const Crossings seen = chain.crossings.read();
        const double half_periods = static_cast<double>(seen.count - 1);
        answer_.push_back({"crossings", static_cast<double>(seen.count)});
        if (seen.count < 2) return;
        answer_.push_back({"frequency", std::numbers::pi * half_periods /
                                            ((seen.last - seen.first) * settings_.chain.step)});
    }

    SpringSettings settings_;
    const Placer* placer_;
    runtime::Answer answer_;
};

class MassSpringWorkload final : public Workload {
public:
    explicit MassSpringWorkload(const Settings& settings)
        : settings_{{settings.integer("masses"), settings.number("stiffness"), settings.number("mass"),
                     settings.number("step"), settings.integer("mode")},
                    settings.integer("iterations"),
                    settings.integer("unrolled"),
                    settings.integer("strips"),
                    settings.integer<std::uint64_t>("parts"),
                    settings.boolean("measure_frequency"),
                    settings.number("unit_cost")} {
        const SpringChain& chain = settings_.chain;
        if (chain.mode > chain.masses) {
            throw Error(fmt::format("mode {} of a chain of {} masses", chain.mode, chain.masses),
                        fmt::format("it has the modes 1 to {}", chain.masses), settings.where("mode"));
        }
        const double fastest = std::sqrt(chain.stiffness / chain.mass);
        // The square of the fastest mode's frequency times the step is below 4 then.
        if (!(chain.step * fastest < 1)) {
            throw Error(
                fmt::format("the step {} is too long: the leapfrog method is unstable from {:.4g} on, where "
                            "step x sqrt(stiffness / mass) is 1",
                            chain.step, 1 / fastest),
                fmt::format("state a step below {:.4g}", 1 / fastest), settings.where("step"));
        }
    }

    void prepare(const ClusterView& cluster, const runtime::Schedule& schedule) override {
        placer_ = group_placer(cluster, schedule);
    }

    std::unique_ptr<runtime::Program> program(NodeId /*node*/) const override {
        return std::make_unique<MassSpring>(settings_, placer_ ? &*placer_ : nullptr);
    }

    Verdict check(const runtime::RunResult& result) const override {
        const auto value = [&](const std::string& name) {
            for (const auto& found : result.answer)
                if (found.name == name) return found.value;
            return std::nan("");
        };
        const auto steps = static_cast<double>(settings_.iterations);
        const double allowed = settings_.chain.deviation_max(steps);
        if (!(value("deviation") <= allowed)) {
            return {Verdict::Kind::wrong,
                    fmt::format("a mass is {} from where mode {} has it, and {} is allowed",
                                value("deviation"), settings_.chain.mode, allowed)};
        }
        std::string source = fmt::format("mode {}: the start times cos(W t)", settings_.chain.mode);
        const double expected = settings_.chain.stepped_frequency();
        if (settings_.measured) {
            // As many as half periods between the first amount, after a step, and the last one, but for a
            // part of one. They decide whether there is a frequency.
            const double half_periods = expected * settings_.chain.step * (steps - 1) / std::numbers::pi;
            constexpr double roundings = 1e-6;
            if (!(std::fabs(value("crossings") - half_periods) <= 1 + roundings)) {
                return {Verdict::Kind::wrong,
                        fmt::format("the mode's amount changes its sign {} times, expected {:.1f} within 1",
                                    value("crossings"), half_periods)};
            }
        }
        if (settings_.measured && value("crossings") >= 2) {
            // Between two positions a crossing is known to a step.
            const double steps_between =
                std::numbers::pi * (value("crossings") - 1) / (expected * settings_.chain.step);
            if (!(std::fabs(value("frequency") / expected - 1) <= 1e-3 + 1 / steps_between)) {
                return {Verdict::Kind::wrong,
                        fmt::format("the frequency is {}, expected {} within 0.1% and a step",
                                    value("frequency"), expected)};
            }
            source += ", its frequency";
        }
        if (!is_small(settings_.chain, settings_.iterations))
            return judge(result.answer, {{"iterations", steps}}, source);
        return judge(
            result.answer,
            {{"iterations", steps}, {"digest", sequential_digest(settings_.chain, settings_.iterations)}},
            source + ", and the sequential program's bits");
    }

    std::vector<const runtime::TaskType*> tasks() const override {
        return {&Task<begin_masses>::travelling,  &Task<strain>::travelling,
                &Task<move>::travelling,          &Task<strain_part>::travelling,
                &Task<join_tensions>::travelling, &Task<strain_in_parts>::travelling,
                &Task<move_part>::travelling,     &Task<join_masses>::travelling,
                &Task<move_in_parts>::travelling, &Task<begin_amount>::travelling,
                &Task<add_amount>::travelling,    &Task<watch>::travelling};
    }

private:
    SpringSettings settings_;
    std::optional<Placer> placer_;
};

const Registration registration{
    {"mass_spring",
     "a chain of masses and springs that swings, by dataflow: short iterations of few tasks",
     {{"masses", SettingKind::integer, "1000", "masses between two walls", {}, 1, 1e7},
      {"mode", SettingKind::integer, "1", "the normal mode in which the chain swings", {}, 1, 1e7},
      {"stiffness", SettingKind::number, "1", "of a spring, N/m", {}, 1e-9, 1e9},
      {"mass", SettingKind::number, "1", "of a mass, kg", {}, 1e-9, 1e9},
      {"step", SettingKind::number, "0.1", "time of an iteration, s", {}, 1e-9, 1e9},
      {"iterations", SettingKind::integer, "100", "steps of the leapfrog method", {}, 1, 1e6},
      {"unrolled",
       SettingKind::integer,
       "10",
       "iterations that are forked, or placed, at a time",
       {},
       1,
       1000},
      {"strips", SettingKind::integer, "8", "strips of masses, each of which is two tasks", {}, 1, 10'000},
      {"parts", SettingKind::integer, "1", "tasks that a strip's task forks; 1: none", {}, 1, 1000},
      {"measure_frequency", SettingKind::boolean, "false",
       "from the times when the mode's amount changes its sign"},
      {"unit_cost",
       SettingKind::flops,
       "5f",
       "cost of one mass, or spring, where work is charged",
       {},
       0,
       flops_max}},
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<MassSpringWorkload>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
