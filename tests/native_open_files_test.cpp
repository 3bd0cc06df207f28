// Tests that a run asks the system for as many open files as its connections take, and what it says where
// there are no more.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include "runtime/native/peers.hpp"
#include "runtime/native/udp_stream.hpp"
#include "tests/native_testing.hpp"

namespace heddle::native {

TEST(NativeOpenFiles, AConnectionByDatagramsCountsFour) {
    MeshNetwork udp;
    udp.udp.emplace();
    EXPECT_EQ(files_of_links({MeshNetwork{}}, 100), 100u);
    EXPECT_EQ(files_of_links({udp}, 100), 400u);
    EXPECT_EQ(files_of_links({MeshNetwork{}, udp}, 100), 500u);
}

/// The next file that this process may open has the number of the limit or a higher one.
class NoMoreFiles {
public:
    NoMoreFiles() {
        getrlimit(RLIMIT_NOFILE, &before_);
        const Descriptor next(dup(0));
        rlimit limit = before_;
        limit.rlim_cur = static_cast<rlim_t>(next.get());
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    ~NoMoreFiles() { setrlimit(RLIMIT_NOFILE, &before_); }
    NoMoreFiles(const NoMoreFiles&) = delete;
    NoMoreFiles& operator=(const NoMoreFiles&) = delete;

private:
    rlimit before_{};
};

TEST(NativeOpenFiles, AStreamByDatagramsSaysThatThereAreNoMore) {
    auto [left, right] = connected_pair();
    sockaddr_storage here{};
    reinterpret_cast<sockaddr_in&>(here) = {
        .sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    auto socket = std::make_unique<UdpSocket>(here, PortRange{});
    const NoMoreFiles limit;
    const std::string error = error_of(
        [&] { (void)std::make_unique<UdpStream>(std::move(socket), std::move(left), Session{}, 1200); });
    EXPECT_NE(error.find("cannot connect by UDP: Too many open files"), std::string::npos) << error;
}

}  // namespace heddle::native
