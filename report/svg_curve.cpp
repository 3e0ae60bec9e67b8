// SPDX-License-Identifier: Apache-2.0
#include "report/svg_curve.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/terminal.hpp"

namespace amsp {
namespace fs = std::filesystem;
namespace {

// A folder of our own that disappears with the object.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern =
        (fs::temp_directory_path() / ("amsp-plot-" + std::string(6, 'X'))).string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw InputError({pattern, ""}, "no temporary folder can be made here (set TMPDIR)");
    path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// The exit status of `program arguments…` with both outputs in `log`; 127 when it does not exist.
int run_quietly(const std::string& program, const std::vector<std::string>& arguments,
                const fs::path& log) {
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return 127;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// gnuplot's double-quoted string (its help: "strings"). Backslashes and quotes are escaped.
std::string gnuplot_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + "\"";
}

// The script's inputs: what it calls bands, lines, points and bars, and the data in that order.
struct Figure {
  std::string settings;
  std::string data;
};

Figure figure(const Plot& plot) {
  const std::array<std::pair<std::string_view, std::function<bool(const Curve&)>>, 4> groups{{
      {"band", [](const Curve& c) { return c.kind == CurveKind::line && c.interval; }},
      {"line", [](const Curve& c) { return c.kind == CurveKind::line; }},
      {"bar", [](const Curve& c) { return c.kind == CurveKind::points && c.interval; }},
      {"point", [](const Curve& c) { return c.kind == CurveKind::points; }},
  }};
  Figure result;
  for (const auto& [name, belongs] : groups) {
    int count = 0;
    std::string titles;
    for (std::size_t i = 0; i < plot.curves.size(); ++i) {
      const Curve& curve = plot.curves[i];
      if (!belongs(curve) || curve.points.empty()) continue;
      ++count;
      titles += fmt::format("{0}_title_{1} = {2}\n{0}_colour_{1} = {3}\n", name, count,
                            gnuplot_text(curve.title),
                            curve.colour > 0 ? curve.colour : static_cast<int>(i) + 1);
      for (const CurvePoint& point : curve.points)
        result.data += fmt::format("{} {} {} {}\n", point.x, point.y, point.low, point.high);
      result.data += "\n\n";
    }
    result.settings += fmt::format("{}s = {}\n", name, count) + titles;
  }
  return result;
}

// gnuplot's binary prefixes are ki, Mi, Gi, …, and blanks where there is none; IEC 80000-13 writes
// Ki.
std::string with_kibibytes(std::string svg) {
  for (const auto& [theirs, ours] :
       {std::pair<std::string_view, std::string_view>{" kiB<", " KiB<"},
        {"   B<", " B<"},
        {"  B<", " B<"}}) {
    for (auto at = svg.find(theirs); at != std::string::npos; at = svg.find(theirs, at))
      svg.replace(at, theirs.size(), ours);
  }
  return svg;
}

}  // namespace

std::optional<std::string> svg_curve(const Plot& plot) {
  const Figure inputs = figure(plot);
  if (inputs.data.empty()) throw InputError("the figure \"" + plot.title + "\" has no point");
  const fs::path script = data_folder("report") / "curve.gp";
  if (!fs::exists(script)) throw InputError({script.string(), ""}, "the plot script is missing");
  const ScratchFolder scratch;
  const fs::path svg = scratch.path() / "figure.svg", data = scratch.path() / "figure.txt",
                 settings = scratch.path() / "figure.gp", log = scratch.path() / "log.txt";
  write_file(data, inputs.data);
  write_file(settings,
             fmt::format("{}plot_title = {}\nx_label = {}\ny_label = {}\nlog_x = {:d}\nlog_y = "
                         "{:d}\nwidth = {}\nheight = {}\nbytes_x = {:d}\nsigned_y = {:d}\ndata = "
                         "{}\nfigure = {}\nload {}\n",
                         inputs.settings, gnuplot_text(plot.title), gnuplot_text(plot.x_label),
                         gnuplot_text(plot.y_label), plot.log_x, plot.log_y, plot.width,
                         plot.height, plot.bytes_x, plot.signed_y, gnuplot_text(data.string()),
                         gnuplot_text(svg.string()), gnuplot_text(script.string())));
  const int status = run_quietly("gnuplot", {settings.string()}, log);
  if (status == 127) {
    note("no figure: gnuplot is not installed (Debian package gnuplot-nox)");
    return std::nullopt;
  }
  if (status != 0)
    throw std::runtime_error(fmt::format("gnuplot failed ({}): {}", status, read_file(log)));
  return plot.bytes_x ? with_kibibytes(read_file(svg)) : read_file(svg);
}

}  // namespace amsp
