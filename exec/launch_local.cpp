// SPDX-License-Identifier: Apache-2.0
// Local ranks: forked here, watched by their sockets, ended with the job whatever happens.
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"
#include "exec/backend.hpp"
#include "exec/clock.hpp"
#include "exec/coordinator.hpp"
#include "exec/launch.hpp"
#include "exec/rank_process.hpp"

namespace amsp {
namespace {

constexpr std::array kStopSignals{SIGINT, SIGTERM, SIGHUP};

// While it lives, stop signals are read from a descriptor instead of ending the process.
class StopSignals {
 public:
  StopSignals() {
    sigset_t set;
    sigemptyset(&set);
    for (int signal : kStopSignals) sigaddset(&set, signal);
    sigprocmask(SIG_BLOCK, &set, &before_);
    descriptor_ = Descriptor(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~StopSignals() {
    signalfd_siginfo drained;
    while (read(descriptor_.get(), &drained, sizeof drained) > 0) {
    }
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  [[nodiscard]] const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
  Descriptor descriptor_;
};

void enter_namespace(const std::string& name) {
  const Descriptor file(open(("/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid() || setns(file.get(), CLONE_NEWNET) != 0)
    throw InputError(
        fmt::format("cannot enter network namespace \"{}\": {}", name, std::strerror(errno)));
}

std::string describe_exit(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
  return fmt::format("ended early with exit status {}", WEXITSTATUS(status));
}

// The forked ranks. Whoever is left when this goes is killed and waited for.
class Children {
 public:
  Children() = default;
  ~Children() { end_all(); }
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  void add(pid_t pid) { pids_.push_back(pid); }

  // How the rank ended, waiting a moment for it: its socket closes just before the process does.
  std::string end_of(Rank rank) {
    pid_t& pid = pids_[rank.position()];
    int status = 0;
    for (int i = 0; i < 100 && pid > 0; ++i) {
      if (waitpid(pid, &status, WNOHANG) == pid) {
        pid = 0;
        return describe_exit(status);
      }
      usleep(10000);
    }
    return "";
  }

  // Gives the ranks a moment to end by themselves.
  void wait_all() {
    for (int i = 0; i < 200 && !reap(); ++i) usleep(10000);
  }

 private:
  bool reap() {
    bool all = true;
    for (pid_t& pid : pids_)
      if (pid > 0 && waitpid(pid, nullptr, WNOHANG) == pid)
        pid = 0;
      else if (pid > 0)
        all = false;
    return all;
  }
  void end_all() {
    for (pid_t pid : pids_)
      if (pid > 0) kill(pid, SIGKILL);
    for (pid_t& pid : pids_)
      while (pid > 0 && waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
      }
  }
  std::vector<pid_t> pids_;
};

[[noreturn]] void run_child(const ExecJob& job, const LocalPlaces& places, Rank rank,
                            Descriptor socket, const sigset_t& signals) {
  int status = 0;
  try {
    sigprocmask(SIG_SETMASK, &signals, nullptr);
    for (int signal : kStopSignals) std::signal(signal, SIG_DFL);
    // Gloo writes to sockets whose peer may be dead. That must not kill this rank, too, or the
    // wrong one is named.
    std::signal(SIGPIPE, SIG_IGN);
    if (!places.namespaces.empty()) enter_namespace(places.namespaces[rank.position()]);
    if (job.options.compute == ComputeMode::timed) favour_timed_rank();
    ControlLink link(std::move(socket), [](const std::string&) { _exit(1); });
    const std::string address = places.namespaces.empty() ? "127.0.0.1" : first_address();
    live_as_rank(job, {rank, rank.index, address}, link);
    _exit(0);  // no destructors of what the parent owns
  } catch (const std::exception& error) {
    fmt::print(stderr, "rank {}: {}\n", rank.index, error.what());
    status = 1;
  }
  _exit(status);
}

}  // namespace

ExecTrace run_local(const ExecJob& job, const LocalPlaces& places) {
  check_job(job);
  const auto backend = find_backend(job.options.backend);
  if (const std::string reason = backend->unavailable(); !reason.empty())
    throw InputError(fmt::format("backend {}: {}", backend->name(), reason));
  const int world = job.schedule.world;
  if (!places.namespaces.empty() && static_cast<int>(places.namespaces.size()) < world)
    throw InputError(fmt::format("the schedule has {} ranks, the testbed only {}", world,
                                 places.namespaces.size()));
  const StopSignals stop;
  Children children;
  Coordinator coordinator(world, job.options.timeout);
  const pid_t self = getpid();
  std::fflush(nullptr);
  std::vector<Descriptor> ours;
  for (int r = 0; r < world; ++r) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
      throw InputError(fmt::format("cannot start rank {}: {}", r, std::strerror(errno)));
    Descriptor here(pair[0]), there(pair[1]);
    const pid_t pid = fork();
    if (pid < 0) throw InputError(fmt::format("cannot start rank {}: {}", r, std::strerror(errno)));
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != self) _exit(1);  // the parent died before the line above
      setpgid(0, 0);                    // Ctrl-C reaches the parent, which ends the ranks
      here.reset();
      ours.clear();  // a socket held by a sibling would hide this one's parent's death
      run_child(job, places, Rank(r), std::move(there), stop.before());
    }
    children.add(pid);
    ours.push_back(std::move(here));
  }
  for (int r = 0; r < world; ++r)
    coordinator.adopt(Rank(r), std::move(ours[static_cast<std::size_t>(r)]));
  coordinator.explain_ends_with([&](Rank rank) { return children.end_of(rank); });
  coordinator.stop_on(stop.descriptor());
  const std::vector<std::string> results = coordinator.serve();
  children.wait_all();
  std::vector<RankTimes> times;
  for (const std::string& bytes : results) times.push_back(unpack(bytes));
  return make_trace(job, times);
}

std::vector<std::string> testbed_namespaces(const std::string& name) {
  std::vector<std::string> found;
  for (int rank = 0;; ++rank) {
    const std::string one = fmt::format("amsp-{}-rank{}", name, rank);
    if (!std::filesystem::exists("/run/netns/" + one)) break;
    found.push_back(one);
  }
  if (found.empty())
    throw InputError(fmt::format(
        "there is no testbed \"{}\"; build it with: exec/testbed up --name {} --nodes N "
        "--ranks-per-node N --intra RATE --inter RATE",
        name, name));
  return found;
}

}  // namespace amsp
