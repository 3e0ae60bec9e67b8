#include "base/file.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/error.hpp"

using namespace amsp;
namespace fs = std::filesystem;

TEST_CASE("sha256 agrees with the published test vector") {
  // FIPS 180-2, appendix B.1
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("files are written whole, and errors name the file") {
  const fs::path folder = fs::temp_directory_path() / "amsp-file-test";
  fs::remove_all(folder);
  write_file(folder / "deep/er/x.txt", "content");
  CHECK(read_file(folder / "deep/er/x.txt") == "content");
  CHECK(std::distance(fs::directory_iterator(folder / "deep/er"), {}) == 1);  // no temporary left
  CHECK_THROWS_WITH(read_file(folder / "none"),
                    Catch::Contains("none") && Catch::Contains("No such file"));
  CHECK_THROWS_WITH(read_file(folder), Catch::Contains("is a folder"));
  CHECK_THROWS_AS(write_file(folder / "deep/er/x.txt/y", "z"), InputError);
  fs::remove_all(folder);
}

TEST_CASE("names resolve to shipped data, with the nearest name on a miss") {
  CHECK_THROWS_WITH(resolve_data("scenario", "scenarios", "paper-7b-amps"),
                    Catch::Contains("did you mean \"paper-7b-amsp\"?"));
  CHECK_THROWS_WITH(resolve_data("scenario", "scenarios", "./nothing.json"),
                    Catch::Contains("no such scenario file"));
  CHECK(fs::exists(resolve_data("scenario", "scenarios", "paper-7b-amsp")));
}
