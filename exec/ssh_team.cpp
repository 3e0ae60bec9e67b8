// SPDX-License-Identifier: Apache-2.0
// Ranks on hosts: one ssh for each host starts its ranks, which connect back and stand by.
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/error.hpp"
#include "base/shell_text.hpp"
#include "exec/served_team.hpp"

namespace amsp {
namespace {

std::string random_token() {
  unsigned char bytes[8];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) throw InputError("no random numbers");
  std::string text;
  for (unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

// This machine's address on the way to a host: a datagram socket knows it without sending. ssh
// may know hosts by names that the resolver does not; then this machine's name must do.
std::string address_towards(const std::string& host) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_DGRAM;
  const std::string name = host.substr(host.find('@') + 1);  // user@host
  std::string result;
  if (getaddrinfo(name.c_str(), "9", &hints, &found) == 0) {
    const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_in own{};
    socklen_t length = sizeof own;
    char text[INET_ADDRSTRLEN] = "";
    if (connect(socket.get(), found->ai_addr, found->ai_addrlen) == 0 &&
        getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &length) == 0 &&
        inet_ntop(AF_INET, &own.sin_addr, text, sizeof text))
      result = text;
    freeaddrinfo(found);
  }
  char own_name[256] = "localhost";
  if (result.empty()) gethostname(own_name, sizeof own_name - 1);
  return result.empty() ? own_name : result;
}

class SshTeam : public ServedTeam {
 public:
  SshTeam(const std::vector<HostRanks>& hosts, const SshOptions& options)
      : ServedTeam(count(hosts), options.timeout) {
    const int port = coordinator().listen_on(0);
    const std::string token = random_token();
    int first = 0;
    for (const HostRanks& host : hosts) {
      const std::string address = options.address.empty() ? common_address(hosts) : options.address;
      const std::string command = fmt::format(
          "for i in $(seq 0 {}); do RANK=$(({} + i)) LOCAL_RANK=$i WORLD_SIZE={} MASTER_ADDR={} "
          "MASTER_PORT={} AMSP_JOB_TOKEN={} {} exec --stand-by & done; wait",
          host.ranks - 1, first, count(hosts), shell_quoted(address), port, token,
          shell_quoted(options.program));
      start(host, command, options);
      first += host.ranks;
    }
    coordinator().ask_for_the_missing([this] { return first_end(); });
  }
  ~SshTeam() override {
    coordinator().dismiss();
    for (const Child& child : children_)
      if (child.pid > 0) kill(-child.pid, SIGTERM);
    for (const Child& child : children_)
      if (child.pid > 0) waitpid(child.pid, nullptr, 0);
  }

 private:
  struct Child {
    std::string host;
    pid_t pid;
  };
  static int count(const std::vector<HostRanks>& hosts) {
    int ranks = 0;
    for (const HostRanks& host : hosts) ranks += host.ranks;
    return ranks;
  }
  // One address for all, or ranks on this machine would give another one than the rest can reach.
  static std::string common_address(const std::vector<HostRanks>& hosts) {
    for (const HostRanks& host : hosts)
      if (!is_this_host(host.name)) return address_towards(host.name);
    return "127.0.0.1";
  }

  void start(const HostRanks& host, const std::string& command, const SshOptions& options) {
    std::vector<std::string> words{"sh", "-c", command};
    // BatchMode: without a key ssh fails instead of asking for a password.
    if (!is_this_host(host.name)) words = {"ssh", "-o", "BatchMode=yes", host.name, command};
    if (options.say)
      options.say(
          fmt::format("{}{}", is_this_host(host.name) ? "" : "ssh " + host.name + " ", command));
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const pid_t pid = fork();
    if (pid < 0) throw InputError(fmt::format("cannot start ssh: {}", std::strerror(errno)));
    if (pid == 0) {
      setpgid(0, 0);  // with its children it is ended as a group
      prctl(PR_SET_PDEATHSIG, SIGTERM);
      const int null = open("/dev/null", O_RDWR);
      dup2(null, STDIN_FILENO);
      dup2(STDERR_FILENO, STDOUT_FILENO);  // this program's stdout is for results
      execvp(argv[0], argv.data());
      _exit(127);
    }
    children_.push_back({host.name, pid});
  }

  std::string first_end() {
    for (Child& child : children_) {
      int status = 0;
      if (child.pid <= 0 || waitpid(child.pid, &status, WNOHANG) != child.pid) continue;
      child.pid = 0;
      return fmt::format(
          "the command on {} ended with status {}{}", child.host,
          WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          WIFEXITED(status) && WEXITSTATUS(status) == 127 ? " (a program was not found)" : "");
    }
    return "";
  }
  std::vector<Child> children_;
};

}  // namespace

std::unique_ptr<RankTeam> ssh_team(const std::vector<HostRanks>& hosts, const SshOptions& options) {
  return std::make_unique<SshTeam>(hosts, options);
}

}  // namespace amsp
