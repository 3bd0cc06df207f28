// Exchanges keys and values of a job step by PMIx. It loads the PMIx library only if a launcher offers PMIx.
#include <fmt/format.h>

#include "base/error.hpp"
#include "runtime/native/job_space.hpp"
#include "runtime/native/membership.hpp"

#ifdef HEDDLE_HAVE_PMIX
#include <dlfcn.h>
#include <pmix.h>

#include <cstdlib>
#include <cstring>
#include <future>
#include <memory>
#endif

namespace heddle::native {

#ifndef HEDDLE_HAVE_PMIX

std::unique_ptr<JobSpace> open_pmix_space(ExchangeTime /*time*/) {
    throw Error("the processes were started by PMIx, and this heddle was built without it",
                "start them with srun --mpi=pmi2 or `heddle launch`, or install libpmix-dev and build again");
}

#else

namespace {

class PmixSpace final : public JobSpace {
public:
    explicit PmixSpace(ExchangeTime time)
        : time_(time), library_(dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL)) {
        if (!library_) {
            throw Error(
                fmt::format("the processes were started by PMIx, and its library is missing: {}", dlerror()),
                "install it (Debian: libpmix2), or start the processes with srun --mpi=pmi2");
        }
        check("PMIx_Init", function<decltype(&PMIx_Init)>("PMIx_Init")(&self_, nullptr, 0));
        pmix_proc_t all = self_;
        all.rank = PMIX_RANK_WILDCARD;
        pmix_value_t* value = nullptr;
        check("PMIx_Get", function<decltype(&PMIx_Get)>("PMIx_Get")(&all, PMIX_JOB_SIZE, nullptr, 0, &value));
        processes_ = value->data.uint32;
        release(value);
    }
    ~PmixSpace() override {
        if (!failed_) (void)function<decltype(&PMIx_Finalize)>("PMIx_Finalize")(nullptr, 0);
    }

    NodeId rank() const override { return self_.rank; }
    NodeId processes() const override { return processes_; }

    void put(const std::string& key, const std::string& told) override {
        std::string copy = told;
        pmix_value_t value{};
        value.type = PMIX_STRING;
        value.data.string = copy.data();
        check("PMIx_Put", function<decltype(&PMIx_Put)>("PMIx_Put")(PMIX_GLOBAL, key.c_str(), &value));
    }
    void exchange() override {
        check("PMIx_Commit", function<decltype(&PMIx_Commit)>("PMIx_Commit")());
        pmix_info_t collect{};
        std::strncpy(collect.key, PMIX_COLLECT_DATA, sizeof collect.key - 1);
        collect.value.type = PMIX_BOOL;
        collect.value.data.flag = true;
        // A thread of PMIx's calls back, perhaps after this call has given up.
        auto* const done = new std::shared_ptr(std::make_shared<std::promise<pmix_status_t>>());
        std::future<pmix_status_t> status = (*done)->get_future();
        const auto call_back = [](pmix_status_t code, void* promise) {
            auto* const kept = static_cast<std::shared_ptr<std::promise<pmix_status_t>>*>(promise);
            (*kept)->set_value(code);
            delete kept;
        };
        failed_ = true;
        check("PMIx_Fence",
              function<decltype(&PMIx_Fence_nb)>("PMIx_Fence_nb")(nullptr, 0, &collect, 1, call_back, done));
        if (status.wait_for(time_.value_or(meeting_time(processes_))) != std::future_status::ready)
            throw Error("another process of the job step did not come in time", "see what it says");
        check("PMIx_Fence", status.get());
        failed_ = false;
    }
    std::string get(NodeId from, const std::string& key) override {
        pmix_proc_t process = self_;
        process.rank = from;
        pmix_value_t* value = nullptr;
        check("PMIx_Get",
              function<decltype(&PMIx_Get)>("PMIx_Get")(&process, key.c_str(), nullptr, 0, &value));
        std::string text = value->type == PMIX_STRING ? value->data.string : "";
        release(value);
        return text;
    }

private:
    template <class F>
    F function(const char* name) const {
        if (void* const found = dlsym(library_, name)) return reinterpret_cast<F>(found);
        throw Error(fmt::format("the library of PMIx has no {}", name), "start with srun --mpi=pmi2");
    }

    static void check(const char* what, pmix_status_t status) {
        if (status == PMIX_SUCCESS) return;
        throw Error(fmt::format("the launcher's PMIx: {} failed with code {}", what, status),
                    "start the processes with srun --mpi=pmi2 or `heddle launch`");
    }

    /// Only strings have memory of their own.
    static void release(pmix_value_t* value) {
        if (value->type == PMIX_STRING) std::free(value->data.string);
        std::free(value);
    }

    ExchangeTime time_;
    void* library_;  ///< it stays loaded: it may have threads
    pmix_proc_t self_{};
    NodeId processes_ = 1;
    bool failed_ = false;
};

}  // namespace

std::unique_ptr<JobSpace> open_pmix_space(ExchangeTime time) {
    return std::make_unique<PmixSpace>(time);
}

#endif

}  // namespace heddle::native
