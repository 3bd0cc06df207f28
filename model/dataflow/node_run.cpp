// Writes a node's part of a group's run into a message, and reads it back.
#include "model/dataflow/node_run.hpp"

namespace heddle::dataflow {

void put_name(runtime::Writer& writer, const GroupName& name) {
    writer.put(name.home).put(name.number);
}

void put_name(runtime::Writer& writer, const ValueName& name) {
    put_name(writer, name.group);
    writer.put(name.object).put(name.run);
}

GroupName group_in(runtime::Reader& reader) {
    GroupName name;
    name.home = reader.get<NodeId>();
    name.number = reader.get<std::uint32_t>();
    reader.check();
    return name;
}

ValueName value_in(runtime::Reader& reader) {
    ValueName name;
    name.group = group_in(reader);
    name.object = reader.get<std::uint32_t>();
    name.run = reader.get<std::uint32_t>();
    reader.check();
    return name;
}

void NodeRun::write(runtime::Writer& writer) const {
    put_name(writer, group);
    writer.put(run).put(placing).put(iteration).put(iterations).put(strict).put(measured).put(digest);
    writer.put_size(moves.size());
    for (const GroupMove& move : moves) {
        put_name(writer, move.value);
        writer.put(move.object).put(move.number).put(move.written).put(move.readers);
        writer.put_size(move.to.size());
        for (const Target& to : move.to) writer.put(to.node).put(to.readers);
    }
    writer.put_size(programs.size());
    for (const auto& [core, program] : programs) {
        writer.put(core);
        program.write(writer);
    }
}

NodeRun NodeRun::read(runtime::Reader& reader) {
    NodeRun run;
    run.group = group_in(reader);
    run.run = reader.get<std::uint32_t>();
    run.placing = reader.get<std::uint32_t>();
    run.iteration = reader.get<std::uint32_t>();
    run.iterations = reader.get<std::uint32_t>();
    run.strict = reader.get<std::uint8_t>() != 0;
    run.measured = reader.get<std::uint8_t>() != 0;
    run.digest = reader.get<std::uint32_t>();
    for (std::uint64_t left = reader.get_size(); left != 0; --left) {
        GroupMove move;
        move.value = value_in(reader);
        move.object = reader.get<std::uint32_t>();
        move.number = reader.get<std::uint32_t>();
        move.written = reader.get<std::uint8_t>() != 0;
        move.readers = reader.get<std::uint32_t>();
        for (std::uint64_t nodes = reader.get_size(); nodes != 0; --nodes) {
            reader.check();
            const auto node = reader.get<NodeId>();
            move.to.push_back({node, reader.get<std::uint32_t>()});
        }
        run.moves.push_back(std::move(move));
    }
    for (std::uint64_t left = reader.get_size(); left != 0; --left) {
        reader.check();
        const auto core = reader.get<CoreId>();
        run.programs.emplace_back(core, SiteProgram::read(reader));
    }
    reader.check();
    return run;
}

}  // namespace heddle::dataflow
