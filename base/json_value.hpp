// SPDX-License-Identifier: Apache-2.0
// The strict JSON reader: a value that knows its file and path, refuses duplicate and unknown keys
// and wrong types with that place, and reads quantities only with their unit. Comments (// and
// /* */) are allowed. Cheap to copy (shares the parsed document).
#pragma once
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/quantity.hpp"

namespace amsp {

class JsonValue {
 public:
  // Throw InputError (file, line and column, what is wrong) when the text is not JSON, is larger
  // than 256 MiB, is nested deeper than 64, or has the same key twice in one object.
  static JsonValue parse_file(const std::filesystem::path& file);
  static JsonValue parse_text(std::string_view text, std::string_view name);

  [[nodiscard]] bool is_object() const;
  [[nodiscard]] bool is_array() const;
  [[nodiscard]] bool is_string() const;
  [[nodiscard]] bool is_number() const;
  [[nodiscard]] bool is_null() const;

  // Objects. at() demands the key; find() does not. accept_keys() refuses every other key and
  // names the nearest accepted one.
  [[nodiscard]] JsonValue at(std::string_view key) const;
  [[nodiscard]] std::optional<JsonValue> find(std::string_view key) const;
  void accept_keys(std::initializer_list<std::string_view> keys) const;
  void accept_keys(const std::vector<std::string>& keys) const;
  [[nodiscard]] std::vector<std::pair<std::string, JsonValue>> members() const;

  // Arrays.
  [[nodiscard]] std::vector<JsonValue> items() const;

  // Scalars, checked. Numbers are finite; integers lie in [low, high].
  [[nodiscard]] std::string as_string() const;
  [[nodiscard]] bool as_bool() const;
  [[nodiscard]] double as_number(double low, double high) const;
  [[nodiscard]] std::int64_t as_integer(std::int64_t low, std::int64_t high) const;
  [[nodiscard]] Bytes as_bytes() const;
  [[nodiscard]] Seconds as_seconds() const;
  [[nodiscard]] Bandwidth as_bandwidth() const;
  [[nodiscard]] Flops as_flops() const;
  [[nodiscard]] FlopRate as_flop_rate() const;
  // The position of the string among `accepted`; refuses others with the nearest name.
  [[nodiscard]] std::size_t as_one_of(std::string_view what,
                                      const std::vector<std::string>& accepted) const;

  [[nodiscard]] Place place() const;
  [[noreturn]] void fail(std::string_view message) const;

  // A copy of the whole document with one value replaced: path "training.micro_batch", text "2".
  // The text is taken as JSON where it parses as JSON, else as a string. Objects on the way are
  // made where they are missing (the reader then judges the key).
  [[nodiscard]] JsonValue with(std::string_view dotted_path, std::string_view text) const;
  // Compact canonical text of this value (keys in file order).
  [[nodiscard]] std::string dump() const;

 private:
  struct Node;
  explicit JsonValue(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  [[nodiscard]] JsonValue child(const void* json, std::string_view step) const;
  std::shared_ptr<const Node> node_;
};

}  // namespace amsp
