// How much of a message a computation hides (overlap.hpp), with one-way CORBA calls of omniORB over TCP
// (overlap.idl). The second process is a child of the first.
#include <sys/wait.h>
#include <unistd.h>

#include <overlap.hh>

#include <condition_variable>
#include <mutex>

#include "bench/native/overlap.hpp"

namespace {

using namespace heddle::bench;

/// This process's broker of calls, with one object.
class Broker {
public:
    Broker() {
        int none = 0;
        const char* tcp[][2] = {{"endPoint", "giop:tcp:127.0.0.1:"}, {nullptr, nullptr}};
        orb_ = CORBA::ORB_init(none, nullptr, "omniORB4", tcp);
        const CORBA::Object_var root = orb_->resolve_initial_references("RootPOA");
        adapter_ = PortableServer::POA::_narrow(root);
        const PortableServer::POAManager_var manager = adapter_->the_POAManager();
        manager->activate();
    }
    ~Broker() { orb_->destroy(); }
    Broker(const Broker&) = delete;
    Broker& operator=(const Broker&) = delete;

    /// A servant that `new` has made; the adapter ends it with itself.
    template <class Servant>
    Servant& add(Servant* servant) {
        const PortableServer::ObjectId_var id = adapter_->activate_object(servant);
        servant->_remove_ref();
        return *servant;
    }
    CORBA::ORB_ptr orb() { return orb_; }

private:
    CORBA::ORB_var orb_;
    PortableServer::POA_var adapter_;
};

class Receiver final : public POA_overlap_calls::Receiver {
public:
    explicit Receiver(CORBA::ORB_ptr orb) : orb_(orb) {}

    void meet(overlap_calls::Sender_ptr partner) override {
        partner_ = overlap_calls::Sender::_duplicate(partner);
    }
    void send(const overlap_calls::Data& data) override {
        partner_->acknowledge(overlap::sum_of({data.get_buffer(), data.length()}));
    }
    void leave() override { orb_->shutdown(false); }

private:
    CORBA::ORB_ptr orb_;
    overlap_calls::Sender_var partner_;
};

/// The sending process's object, and its side of a round.
class Partner final : public POA_overlap_calls::Sender {
public:
    Partner(overlap_calls::Receiver_ptr receiver, std::size_t bytes) : receiver_(receiver) {
        data_.length(static_cast<CORBA::ULong>(bytes));
    }

    void acknowledge(CORBA::ULongLong sum) override {
        const std::lock_guard lock(mutex_);
        sum_ = sum;
        here_ = true;
        came_.notify_one();
    }

    std::span<std::uint8_t> room() { return {data_.get_buffer(), data_.length()}; }
    void post() { receiver_->send(data_); }
    std::uint64_t wait() {
        std::unique_lock lock(mutex_);
        came_.wait(lock, [this] { return here_; });
        here_ = false;
        return sum_;
    }

private:
    overlap_calls::Receiver_ptr receiver_;
    overlap_calls::Data data_;
    std::mutex mutex_;
    std::condition_variable came_;
    std::uint64_t sum_ = 0;
    bool here_ = false;
};

/// Writes where its object is, and answers until it is told to leave.
void answer(int pipe) {
    Broker broker;
    Receiver& receiver = broker.add(new Receiver(broker.orb()));
    const overlap_calls::Receiver_var reference = receiver._this();
    const CORBA::String_var text = broker.orb()->object_to_string(reference);
    const std::string_view name(text.in());
    if (write(pipe, name.data(), name.size()) != static_cast<ssize_t>(name.size())) std::exit(1);
    close(pipe);
    broker.orb()->run();
}

std::string all_of(int pipe) {
    std::string text;
    char piece[1024];
    for (ssize_t got = 0; (got = read(pipe, piece, sizeof piece)) > 0;)
        text.append(piece, static_cast<std::size_t>(got));
    return text;
}

void measure(const OverlapTask& task, int pipe) {
    Broker broker;
    const CORBA::Object_var object = broker.orb()->string_to_object(all_of(pipe).c_str());
    const overlap_calls::Receiver_var receiver = overlap_calls::Receiver::_narrow(object);
    Partner& partner = broker.add(new Partner(receiver, task.bytes));
    const overlap_calls::Sender_var reference = partner._this();
    receiver->meet(reference);
    measure_overlap(task, partner);
    receiver->leave();
}

}  // namespace

int main(int argc, char** argv) {
    int ends[2];
    if (argc != 4 || pipe(ends) != 0) {
        std::fprintf(stderr, "usage: %s BYTES ROUNDS STEPS,STEPS,...\n", argv[0]);
        return 2;
    }
    const OverlapTask task = OverlapTask::read(argv[1], argv[2], argv[3]);
    const pid_t child = fork();
    if (child < 0) return 1;
    try {
        close(ends[child == 0 ? 0 : 1]);
        if (child == 0) {
            answer(ends[1]);
            return 0;
        }
        measure(task, ends[0]);
    } catch (const CORBA::Exception& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error._name());
        return 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
    return waitpid(child, nullptr, 0) == child ? 0 : 1;
}
