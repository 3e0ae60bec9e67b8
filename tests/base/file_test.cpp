#include "base/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/error.hpp"
#include "base/output_path.hpp"

using namespace amsp;
namespace fs = std::filesystem;

TEST_CASE("sha256 agrees with the published test vector") {
  // FIPS 180-2, appendix B.1
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

namespace {

// A folder of this process's own, gone at the end.
struct Scratch {
  fs::path folder = fs::temp_directory_path() / fmt::format("amsp-file-test-{}", ::getpid());
  Scratch() { fs::create_directories(folder); }
  ~Scratch() { fs::remove_all(folder); }
};

}  // namespace

TEST_CASE("files are written whole, and errors name the file") {
  const Scratch scratch;
  const fs::path& folder = scratch.folder;
  write_file(folder / "deep/er/x.txt", "content");
  CHECK(read_file(folder / "deep/er/x.txt") == "content");
  CHECK(std::distance(fs::directory_iterator(folder / "deep/er"), {}) == 1);  // no temporary left
  CHECK_THROWS_WITH(read_file(folder / "none"),
                    Catch::Contains("none") && Catch::Contains("No such file"));
  CHECK_THROWS_WITH(read_file(folder), Catch::Contains("is a folder"));
  CHECK_THROWS_AS(write_file(folder / "deep/er/x.txt/y", "z"), InputError);
}

TEST_CASE("a file that cannot be read to its end is refused, not cut") {
  // Linux: the first page of the address space is never mapped, so reading it fails (EIO).
  CHECK_THROWS_WITH(read_file("/proc/self/mem"),
                    Catch::Contains("/proc/self/mem") && Catch::Contains("to its end"));
}

TEST_CASE("writing to a link writes what it leads to") {
  const Scratch scratch;
  const fs::path& folder = scratch.folder;
  write_file(folder / "real/target.txt", "old");
  fs::create_symlink("real/target.txt", folder / "link");
  fs::create_symlink("link", folder / "link to link");
  fs::create_symlink("real/not yet", folder / "link to nothing");
  fs::create_symlink("round", folder / "round");
  check_output_file(folder / "link to link");
  write_file(folder / "link to link", "new");
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(fs::is_symlink(folder / "link to link"));
  CHECK(read_file(folder / "real/target.txt") == "new");
  write_file(folder / "link to nothing", "made");
  CHECK(fs::is_symlink(folder / "link to nothing"));
  CHECK(read_file(folder / "real/not yet") == "made");
  CHECK(std::distance(fs::directory_iterator(folder / "real"), {}) == 2);  // no temporary left
  CHECK_THROWS_WITH(write_file(folder / "round", "x"), Catch::Contains("go round"));
  CHECK_THROWS_WITH(check_output_file(folder / "round"), Catch::Contains("go round"));
}

TEST_CASE("pipes and what is open already are written in place") {
  const Scratch scratch;
  const fs::path pipe = scratch.folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  write_file(pipe, "through");
  char text[16] = {};
  CHECK(::read(reader, text, sizeof text) == 7);
  CHECK(std::string(text) == "through");
  CHECK(fs::is_fifo(pipe));
  ::close(reader);
  // As "/dev/stdout" in a shell's "> log": behind what is there, in the same file.
  const fs::path log = scratch.folder / "log";
  const int open_log = ::open(log.c_str(), O_WRONLY | O_CREAT, 0600);
  REQUIRE(::write(open_log, "one ", 4) == 4);
  const fs::path descriptor = fmt::format("/dev/fd/{}", open_log);
  check_output_file(descriptor);
  write_file(descriptor, "two ");
  REQUIRE(::write(open_log, "three", 5) == 5);
  ::close(open_log);
  CHECK(read_file(log) == "one two three");
}

TEST_CASE("names resolve to shipped data, with the nearest name on a miss") {
  CHECK_THROWS_WITH(resolve_data("scenario", "scenarios", "paper-7b-amps"),
                    Catch::Contains("did you mean \"paper-7b-amsp\"?"));
  CHECK_THROWS_WITH(resolve_data("scenario", "scenarios", "./nothing.json"),
                    Catch::Contains("no such scenario file"));
  CHECK(fs::exists(resolve_data("scenario", "scenarios", "paper-7b-amsp")));
}
