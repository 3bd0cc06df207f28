// Reads the speeds of kernels, and what the bytes of messages take, by size.
#include "configs/sized_fields.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/units.hpp"
#include "configs/field_makers.hpp"

namespace heddle::configs {

namespace {

using Json = nlohmann::ordered_json;
using Kind = Shape::Kind;

constexpr const char* kernel_example = "write it like `[{kernel: uts.node, speed: 9Gf}]`";

KernelSpeed kernel_in(const Value& value, const std::string& key) {
    if (value.kind != Value::Kind::mapping)
        throw Error(fmt::format("{}: expected a kernel, found {}", key, value.described()), kernel_example,
                    value.where);
    std::optional<double> speed;
    KernelSpeed read;
    for (const Value& entry : value.children) {
        const std::string name = key + "." + entry.key;
        if (entry.key == "kernel") {
            read.kernel = scalar_text(entry, name, {Kind::text});
        } else if (entry.key == "size") {
            read.size = number_in(entry, name, {Kind::number, 1e-9, 1e18});
        } else if (entry.key == "speed") {
            try {
                speed = parse_flops(scalar_text(entry, name, {Kind::flops}));
            } catch (const Error& error) {
                throw Error(name + ": " + error.message(), error.advice(), entry.where);
            }
        } else {
            throw Error(fmt::format("unknown key \"{}\" in {}", entry.key, key),
                        nearest_advice(entry.key, {"kernel", "size", "speed"}), entry.key_where);
        }
    }
    if (read.kernel.empty() || !speed || !(*speed >= 1 && *speed <= 1e18))
        throw Error(fmt::format("{}: a kernel needs `kernel`, a name, and `speed`, of 1f to 1e9Gf", key),
                    kernel_example, value.where);
    read.speed = *speed;
    return read;
}

[[noreturn]] void refuse_again(const KernelSpeed& one, const std::string& key, const Location& where) {
    throw Error(fmt::format("{}: the speed of {} is stated twice for one size", key, one.kernel),
                "state one speed for each `size`, and one without", where);
}

}  // namespace

Field kernel_speeds() {
    const std::string key = "platform.kernels";
    return {
        key,
        {Kind::kernels},
        "flops per second of a core at kinds of work that workloads name, for any size of their data or for "
        "some "
        "sizes; of other work it is core_speed",
        [=](Experiment& experiment, const Value& value) {
            if (value.kind != Value::Kind::list)
                throw Error(fmt::format("{}: expected a list, found {}", key, value.described()),
                            kernel_example, value.where);
            std::vector<KernelSpeed> read;
            for (const Value& item : value.children) {
                const KernelSpeed one = kernel_in(item, key);
                for (const KernelSpeed& other : read)
                    if (other.kernel == one.kernel && other.size == one.size)
                        refuse_again(one, key, item.where);
                read.push_back(one);
            }
            experiment.kernels = std::move(read);
        },
        [](const Experiment& experiment) {
            Json list = Json::array();
            for (const KernelSpeed& one : experiment.kernels) {
                Json item{{"kernel", one.kernel}};
                if (one.size != 0) item["size"] = one.size;
                item["speed"] = print_flops(one.speed);
                list.push_back(std::move(item));
            }
            return list;
        }};
}

namespace {

constexpr const char* bytes_example = "write it like `[{size: 64KiB, send: 5us, receive: 4us}]`";

MessageBytes bytes_in(const Value& value, const std::string& key) {
    if (value.kind != Value::Kind::mapping)
        throw Error(fmt::format("{}: expected a size of messages, found {}", key, value.described()),
                    bytes_example, value.where);
    MessageBytes read;
    std::optional<Time> send, receive;
    for (const Value& entry : value.children) {
        const std::string name = key + "." + entry.key;
        if (entry.key == "size") {
            read.size = static_cast<std::uint64_t>(
                quantity_in(entry, name, {Kind::bytes, 1, 1e15}, parse_bytes, print_bytes));
        } else if (entry.key == "send") {
            send = time_in(entry, name);
        } else if (entry.key == "receive") {
            receive = time_in(entry, name);
        } else {
            throw Error(fmt::format("unknown key \"{}\" in {}", entry.key, key),
                        nearest_advice(entry.key, {"size", "send", "receive"}), entry.key_where);
        }
    }
    if (read.size == 0 || !send || !receive)
        throw Error(fmt::format("{}: each needs `size`, `send` and `receive`", key), bytes_example,
                    value.where);
    read.send = *send;
    read.receive = *receive;
    return read;
}

}  // namespace

Field message_bytes() {
    const std::string key = "platform.overheads.message_bytes";
    return {key,
            {Kind::message_bytes},
            "what the bytes of messages of some sizes take at each end, added to message_send and "
            "message_receive in place of message_send_kib and message_receive_kib; a line between two sizes",
            [=](Experiment& experiment, const Value& value) {
                if (value.kind != Value::Kind::list)
                    throw Error(fmt::format("{}: expected a list, found {}", key, value.described()),
                                bytes_example, value.where);
                std::vector<MessageBytes> read;
                for (const Value& item : value.children) {
                    const MessageBytes one = bytes_in(item, key);
                    const MessageBytes last = read.empty() ? MessageBytes{} : read.back();
                    if (one.size <= last.size)
                        throw Error(fmt::format("{}: {} comes after {}", key,
                                                print_bytes(static_cast<double>(one.size)),
                                                print_bytes(static_cast<double>(last.size))),
                                    "state sizes in ascending order, each once", item.where);
                    if (one.send < last.send || one.receive < last.receive)
                        throw Error(fmt::format("{}: {} take less than {}", key,
                                                print_bytes(static_cast<double>(one.size)),
                                                print_bytes(static_cast<double>(last.size))),
                                    "larger messages take as long or longer", item.where);
                    read.push_back(one);
                }
                experiment.platform.overheads.message_bytes = std::move(read);
            },
            [](const Experiment& experiment) {
                Json list = Json::array();
                for (const MessageBytes& one : experiment.platform.overheads.message_bytes)
                    list.push_back(Json{{"size", print_bytes(static_cast<double>(one.size))},
                                        {"send", print_time(one.send)},
                                        {"receive", print_time(one.receive)}});
                return list;
            }};
}

}  // namespace heddle::configs
