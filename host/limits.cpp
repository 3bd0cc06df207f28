// Raises the limit of open files, and words the errors of threads, files or memory that the system refuses.
#include "host/limits.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>

#include <cerrno>
#include <new>
#include <system_error>

namespace heddle::host {

void report_large_files() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &ignore, nullptr);
}

void allow_open_files(std::uint64_t needed, const std::string& purpose) {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= needed) return;
    if (limit.rlim_max >= needed) {
        limit.rlim_cur = needed;
        if (setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
    }
    throw Error(fmt::format("{} takes {} open files, and the system allows this process {}", purpose, needed,
                            limit.rlim_max),
                "raise the limit (ulimit -Hn), or use fewer nodes");
}

namespace {

std::optional<Error> exhausted_by(const std::error_code& code) {
    const std::string text = code.message();
    const auto is = [&code](std::errc condition) { return code == condition; };
    if (is(std::errc::resource_unavailable_try_again)) {
        return Error(fmt::format("the system starts no more threads or processes: {}", text),
                     "use fewer cores or nodes, or raise the limits (ulimit -u and -v, or the job's memory)");
    }
    if (is(std::errc::too_many_files_open) || is(std::errc::too_many_files_open_in_system))
        return Error(fmt::format("this process may open no more files: {}", text),
                     "raise the limit (ulimit -n)");
    if (is(std::errc::not_enough_memory))
        return Error(fmt::format("the system gives this process no more memory: {}", text),
                     "make the problem smaller, or raise the limit (ulimit -v, or the job's memory)");
    return std::nullopt;
}

}  // namespace

std::optional<Error> exhausted_resource(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const std::bad_alloc&) {
        return Error("the system gives this process no more memory",
                     "make the problem smaller, or raise the limit (ulimit -v, or the job's memory)");
    } catch (const std::system_error& error) {
        return exhausted_by(error.code());
    } catch (...) {
        return std::nullopt;
    }
}

}  // namespace heddle::host
