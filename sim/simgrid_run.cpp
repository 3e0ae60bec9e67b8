// SPDX-License-Identifier: Apache-2.0
#include "sim/simgrid_run.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "base/error.hpp"
#include "sim/replayer.hpp"
#include "sim/simgrid_engine.hpp"

namespace amsp {
namespace {

enum class Outcome : std::int64_t { done, bad_input, bug };

class PipeWriter {
 public:
  explicit PipeWriter(int file) : file_(file) {}
  void write(const void* data, std::size_t size) const {
    const char* at = static_cast<const char*>(data);
    while (size > 0) {
      const ssize_t written = ::write(file_, at, size);
      if (written <= 0) _exit(3);  // nobody reads
      at += written;
      size -= static_cast<std::size_t>(written);
    }
  }
  template <class T>
  void list(const std::vector<T>& values) const {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto count = static_cast<std::int64_t>(values.size());
    write(&count, sizeof count);
    write(values.data(), values.size() * sizeof(T));
  }
  void text(const std::string& value) const { list(std::vector<char>(value.begin(), value.end())); }

 private:
  int file_;
};

class PipeReader {
 public:
  explicit PipeReader(int file) : file_(file) {}
  // False at the end of the pipe.
  bool read(void* data, std::size_t size) const {
    char* at = static_cast<char*>(data);
    while (size > 0) {
      const ssize_t got = ::read(file_, at, size);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      at += got;
      size -= static_cast<std::size_t>(got);
    }
    return true;
  }
  template <class T>
  bool list(std::vector<T>& values) const {
    std::int64_t count = 0;
    if (!read(&count, sizeof count)) return false;
    values.resize(static_cast<std::size_t>(count));
    return read(values.data(), values.size() * sizeof(T));
  }

 private:
  int file_;
};

// The child: never returns.
[[noreturn]] void replay_and_send(int file, const ReplayInput& input, const Unfolded& unfolded,
                                  const Problem& problem, const ReplayOptions& options) {
  const PipeWriter pipe(file);
  auto outcome = Outcome::done;
  std::string message;
  ReplayResult result;
  try {
    const std::unique_ptr<Engine> engine =
        make_simgrid_engine(problem, options.messages ? make_messages(problem, unfolded)
                                                      : make_parallel_tasks(problem));
    Replayer replayer(problem, input.perturbations, *engine, options);
    replayer.run();
    result.records = replayer.take_records();
    result.events = engine->events();
    pipe.write(&outcome, sizeof outcome);
    pipe.list(result.records);
    pipe.list(replayer.others());
    pipe.write(&result.events, sizeof result.events);
    _exit(0);  // SimGrid's own end of process is skipped: it belongs to the parent's state
  } catch (const InputError& error) {
    outcome = Outcome::bad_input;
    message = error.what();
  } catch (const std::exception& error) {
    outcome = Outcome::bug;
    message = error.what();
  }
  pipe.write(&outcome, sizeof outcome);
  pipe.text(message);
  _exit(0);
}

ReplayResult receive(const PipeReader& pipe) {
  ReplayResult result;
  Outcome outcome{};
  if (!pipe.read(&outcome, sizeof outcome))
    throw std::runtime_error("the SimGrid process ended without a result");
  if (outcome == Outcome::done) {
    if (!pipe.list(result.records) || !pipe.list(result.others) ||
        !pipe.read(&result.events, sizeof result.events))
      throw std::runtime_error("the SimGrid process ended within its result");
    return result;
  }
  std::vector<char> text;
  pipe.list(text);
  const std::string message(text.begin(), text.end());
  if (outcome == Outcome::bad_input) throw InputError(message);
  throw std::runtime_error("SimGrid: " + message);
}

}  // namespace

ReplayResult run_simgrid(const ReplayInput& input, const Unfolded& unfolded, const Problem& problem,
                         const ReplayOptions& options) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0)
    throw std::runtime_error(std::string("no pipe: ") + std::strerror(errno));
  std::fflush(nullptr);  // or the child would print what is buffered again
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error(std::string("no child process: ") + std::strerror(errno));
  if (child == 0) {
    close(ends[0]);
    replay_and_send(ends[1], input, unfolded, problem, options);
  }
  close(ends[1]);
  const auto tidy = [&] {
    close(ends[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  };
  try {
    ReplayResult result = receive(PipeReader(ends[0]));
    tidy();
    return result;
  } catch (...) {
    tidy();
    throw;
  }
}

}  // namespace amsp
