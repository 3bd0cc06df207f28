// Reads Pegasus DAX files by expat, which streams, knows its line and limits the expansion of entities.
#include <expat.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>

#include "graphs/readers.hpp"
#include "graphs/workflow.hpp"

namespace heddle::graphs {

namespace {

class DaxReader {
public:
    DaxReader(const SourceText& source, const ReadOptions& options)
        : source_(source), workflow_(source, options), parser_(XML_ParserCreate(nullptr), &XML_ParserFree) {}

    GraphFile read() {
        XML_SetUserData(parser_.get(), this);
        XML_SetElementHandler(parser_.get(), &DaxReader::start, &DaxReader::end);
        // Pieces, as the parser counts bytes in an int.
        constexpr std::size_t piece_bytes = 1 << 24;
        std::string_view rest = source_.text;
        for (bool last = false; !last;) {
            const std::string_view piece = rest.substr(0, std::min(rest.size(), piece_bytes));
            rest.remove_prefix(piece.size());
            last = rest.empty();
            const XML_Status status = XML_Parse(parser_.get(), piece.data(), static_cast<int>(piece.size()),
                                                last ? XML_TRUE : XML_FALSE);
            if (failure_) std::rethrow_exception(failure_);
            if (status != XML_STATUS_OK) {
                const XML_Error error = XML_GetErrorCode(parser_.get());
                source_.refuse(line(), fmt::format("this is not XML: {}", XML_ErrorString(error)),
                               error == XML_ERROR_NO_ELEMENTS || error == XML_ERROR_UNCLOSED_TOKEN
                                   ? "it seems to be cut short"
                                   : "");
            }
        }
        return workflow_.build();
    }

private:
    /// The attributes of an element.
    struct Attributes {
        const XML_Char** pairs;

        std::string_view find(std::string_view name) const {
            for (const XML_Char** pair = pairs; *pair != nullptr; pair += 2) {
                if (name == pair[0]) return pair[1];
            }
            return {};
        }
    };

    // Exceptions do not travel through the parser's C code: they wait here until it has returned.
    template <class Work>
    static void guarded(void* reader, const Work& work) {
        auto& self = *static_cast<DaxReader*>(reader);
        if (self.failure_) return;
        try {
            work(self);
        } catch (...) {
            self.failure_ = std::current_exception();
            XML_StopParser(self.parser_.get(), XML_FALSE);
        }
    }
    static void XMLCALL start(void* reader, const XML_Char* name, const XML_Char** attributes) {
        guarded(reader, [&](DaxReader& self) { self.open(name, {attributes}); });
    }
    static void XMLCALL end(void* reader, const XML_Char* name) {
        guarded(reader, [&](DaxReader& self) { self.close(name); });
    }

    int line() const { return static_cast<int>(XML_GetCurrentLineNumber(parser_.get())); }

    std::string_view needed(const Attributes& attributes, std::string_view name,
                            std::string_view element) const {
        const std::string_view value = attributes.find(name);
        if (value.empty()) source_.refuse(line(), fmt::format("{} has no attribute {}", element, name));
        return value;
    }

    void open(std::string_view name, const Attributes& attributes) {
        if (depth_++ == 0 && name != "adag") {
            source_.refuse(line(), fmt::format("the outermost element is {}", name),
                           "a DAX file begins with <adag>");
        }
        if (name == "job") {
            const std::string_view id = needed(attributes, "id", "a job");
            const std::string_view runtime = attributes.find("runtime");
            if (runtime.empty()) {
                source_.refuse(line(), fmt::format("job {} has no runtime", id),
                               "it is an attribute of <job>, in seconds");
            }
            job_ = workflow_.add_task(
                id, {}, weight_in(runtime, fmt::format("the runtime of job {}", id), source_.at(line())),
                attributes.find("name"), line());
            job_id_ = id;
            in_job_ = true;
        } else if (name == "uses" && in_job_) {
            use(attributes);
        } else if (name == "child") {
            child_ = needed(attributes, "ref", "a child");
        } else if (name == "parent") {
            if (child_.empty()) source_.refuse(line(), "a parent outside of <child>");
            workflow_.depends(child_, needed(attributes, "ref", "a parent"), line());
        }
    }

    void use(const Attributes& attributes) {
        std::string_view file = attributes.find("file");
        if (file.empty()) file = attributes.find("name");  // as in DAX 3
        if (file.empty()) source_.refuse(line(), fmt::format("job {} uses a file without a name", job_id_));
        const std::string_view text = attributes.find("size");
        const double size = text.empty()
                                ? Workflow::unknown_size
                                : weight_in(text, fmt::format("the size of file {} of job {}", file, job_id_),
                                            source_.at(line()));
        const std::string_view link = attributes.find("link");
        if (link != "output") workflow_.reads(job_, file, size, line());
        if (link == "output" || link == "inout") workflow_.writes(job_, file, size, line());
        if (link != "input" && link != "output" && link != "inout") {
            source_.refuse(line(),
                           fmt::format("file {} of job {} is neither input nor output", file, job_id_),
                           "state link=\"input\" or link=\"output\"");
        }
    }

    void close(std::string_view name) {
        --depth_;
        if (name == "job") in_job_ = false;
        if (name == "child") child_.clear();
    }

    const SourceText& source_;
    Workflow workflow_;
    std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser_;
    std::exception_ptr failure_;
    int depth_ = 0;
    bool in_job_ = false;
    TaskIndex job_ = 0;
    std::string job_id_;
    std::string child_;
};

}  // namespace

GraphFile read_dax(const SourceText& source, const ReadOptions& options) {
    return DaxReader(source, options).read();
}

}  // namespace heddle::graphs
