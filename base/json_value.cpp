// SPDX-License-Identifier: Apache-2.0
#include "base/json_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.hpp"
#include "base/units_text.hpp"

namespace amsp {

using Json = nlohmann::ordered_json;

struct JsonValue::Node {
  std::shared_ptr<const Json> root;
  const Json* json;
  std::string file;
  std::string path;
};

namespace {

// Refuses duplicate keys and deep nesting, which the library lets pass.
class StrictSax : public nlohmann::detail::json_sax_dom_parser<Json> {
 public:
  using Base = nlohmann::detail::json_sax_dom_parser<Json>;
  StrictSax(Json& result, std::string name) : Base(result, true), name_(std::move(name)) {}

  bool start_object(std::size_t count) {
    deepen();
    keys_.emplace_back();
    return Base::start_object(count);
  }
  bool end_object() {
    keys_.pop_back();
    path_.resize(keys_.size());
    --depth_;
    return Base::end_object();
  }
  bool start_array(std::size_t count) {
    deepen();
    return Base::start_array(count);
  }
  bool end_array() {
    --depth_;
    return Base::end_array();
  }
  bool key(std::string& key) {
    path_.resize(keys_.size());
    path_.back() = key;
    if (!keys_.back().insert(key).second)
      throw InputError({name_, joined()}, fmt::format("key \"{}\" appears twice", key));
    return Base::key(key);
  }
  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception& error) {
    (void)position;
    (void)token;
    std::string text = error.what();
    if (const auto at = text.find("parse error"); at != std::string::npos) text.erase(0, at);
    throw InputError({name_, ""}, "not JSON: " + text);
  }

 private:
  void deepen() {
    constexpr int kDeepest = 64;
    if (++depth_ > kDeepest)
      throw InputError({name_, joined()}, fmt::format("nested deeper than {}", kDeepest));
  }
  [[nodiscard]] std::string joined() const {
    std::string text;
    for (const std::string& key : path_) text += "/" + key;
    return text;
  }
  std::string name_;
  int depth_ = 0;
  std::vector<std::set<std::string>> keys_;
  std::vector<std::string> path_;
};

std::string shown(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  constexpr std::size_t kLongest = 60;
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "…";
  return text;
}

}  // namespace

JsonValue JsonValue::parse_file(const std::filesystem::path& file) {
  return parse_text(read_file(file), file.string());
}

JsonValue JsonValue::parse_text(std::string_view text, std::string_view name) {
  constexpr std::size_t kLargest = std::size_t{256} << 20;
  const std::string file(name);
  if (text.size() > kLargest) throw InputError({file, ""}, "larger than 256 MiB");
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw InputError({file, ""}, "is empty, not JSON");
  if (text.find('\0') != std::string_view::npos)
    throw InputError({file, ""}, "is binary, not JSON");
  auto root = std::make_shared<Json>();
  StrictSax sax(*root, file);
  Json::sax_parse(text.begin(), text.end(), &sax, Json::input_format_t::json, true, true);
  return JsonValue(std::make_shared<Node>(Node{root, root.get(), file, ""}));
}

bool JsonValue::is_object() const { return node_->json->is_object(); }
bool JsonValue::is_array() const { return node_->json->is_array(); }
bool JsonValue::is_string() const { return node_->json->is_string(); }
bool JsonValue::is_number() const { return node_->json->is_number(); }
bool JsonValue::is_null() const { return node_->json->is_null(); }

JsonValue JsonValue::child(const void* json, std::string_view step) const {
  return JsonValue(
      std::make_shared<Node>(Node{node_->root, static_cast<const Json*>(json), node_->file,
                                  node_->path + "/" + std::string(step)}));
}

JsonValue JsonValue::at(std::string_view key) const {
  if (auto value = find(key)) return *value;
  fail(fmt::format("key \"{}\" is missing", key));
}

std::optional<JsonValue> JsonValue::find(std::string_view key) const {
  if (!is_object()) fail("must be an object, but is " + shown(*node_->json));
  const auto it = node_->json->find(std::string(key));
  if (it == node_->json->end()) return std::nullopt;
  return child(&*it, key);
}

void JsonValue::accept_keys(std::initializer_list<std::string_view> keys) const {
  accept_keys(std::vector<std::string>(keys.begin(), keys.end()));
}

void JsonValue::accept_keys(const std::vector<std::string>& keys) const {
  if (!is_object()) fail("must be an object, but is " + shown(*node_->json));
  for (const auto& [key, value] : node_->json->items())
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      child(&value, key).fail(unknown_name("key", key, keys));
}

std::vector<std::pair<std::string, JsonValue>> JsonValue::members() const {
  if (!is_object()) fail("must be an object, but is " + shown(*node_->json));
  std::vector<std::pair<std::string, JsonValue>> result;
  for (const auto& [key, value] : node_->json->items())
    result.emplace_back(key, child(&value, key));
  return result;
}

std::vector<JsonValue> JsonValue::items() const {
  if (!is_array()) fail("must be an array, but is " + shown(*node_->json));
  std::vector<JsonValue> result;
  for (std::size_t i = 0; i < node_->json->size(); ++i)
    result.push_back(child(&(*node_->json)[i], std::to_string(i)));
  return result;
}

std::string JsonValue::as_string() const {
  if (!is_string()) fail("must be a string, but is " + shown(*node_->json));
  return node_->json->get<std::string>();
}

bool JsonValue::as_bool() const {
  if (!node_->json->is_boolean()) fail("must be true or false, but is " + shown(*node_->json));
  return node_->json->get<bool>();
}

double JsonValue::as_number(double low, double high) const {
  if (!is_number()) fail("must be a number, but is " + shown(*node_->json));
  const double value = node_->json->get<double>();
  if (!std::isfinite(value) || value < low || value > high)
    fail(fmt::format("must be between {} and {}, but is {}", low, high, shown(*node_->json)));
  return value;
}

std::int64_t JsonValue::as_integer(std::int64_t low, std::int64_t high) const {
  constexpr double kExact = 9007199254740992.0;  // 2^53: whole up to here
  if (node_->json->is_number_float()) {          // 1e9 and 2.0 are whole numbers
    const double number = node_->json->get<double>();
    if (std::nearbyint(number) == number && std::abs(number) <= kExact) {
      if (number < static_cast<double>(low) || number > static_cast<double>(high))
        fail(fmt::format("must be between {} and {}, but is {}", low, high, shown(*node_->json)));
      return static_cast<std::int64_t>(number);
    }
  }
  if (!node_->json->is_number_integer())
    fail("must be a whole number, but is " + shown(*node_->json));
  const bool too_big = node_->json->is_number_unsigned() &&
                       node_->json->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX);
  const std::int64_t value = too_big ? INT64_MAX : node_->json->get<std::int64_t>();
  if (value < low || value > high)
    fail(fmt::format("must be between {} and {}, but is {}", low, high, shown(*node_->json)));
  return value;
}

namespace {
template <class Parse>
auto quantity(const JsonValue& value, bool is_string, const std::string& found, Parse parse) {
  if (!is_string)
    value.fail("must be a text with a unit (a number alone has none), but is " + found);
  return parse(value.as_string(), value.place());
}
}  // namespace

Bytes JsonValue::as_bytes() const {
  return quantity(*this, is_string(), shown(*node_->json), parse_bytes);
}
Seconds JsonValue::as_seconds() const {
  return quantity(*this, is_string(), shown(*node_->json), parse_seconds);
}
Bandwidth JsonValue::as_bandwidth() const {
  return quantity(*this, is_string(), shown(*node_->json), parse_bandwidth);
}
Flops JsonValue::as_flops() const {
  return quantity(*this, is_string(), shown(*node_->json), parse_flops);
}
FlopRate JsonValue::as_flop_rate() const {
  return quantity(*this, is_string(), shown(*node_->json), parse_flop_rate);
}

std::size_t JsonValue::as_one_of(std::string_view what,
                                 const std::vector<std::string>& accepted) const {
  const std::string found = as_string();
  const auto it = std::find(accepted.begin(), accepted.end(), found);
  if (it == accepted.end()) fail(unknown_name(what, found, accepted));
  return static_cast<std::size_t>(it - accepted.begin());
}

Place JsonValue::place() const { return {node_->file, node_->path}; }
void JsonValue::fail(std::string_view message) const { throw InputError(place(), message); }

JsonValue JsonValue::with(std::string_view dotted_path, std::string_view text) const {
  auto root = std::make_shared<Json>(*node_->root);
  Json* target = root.get();
  std::string walked;
  for (std::size_t from = 0; from <= dotted_path.size();) {
    const std::size_t dot = std::min(dotted_path.find('.', from), dotted_path.size());
    const std::string step(dotted_path.substr(from, dot - from));
    if (step.empty())
      throw InputError({"--set", ""}, fmt::format("\"{}\" is not a path", dotted_path));
    if (target->is_null()) *target = Json::object();  // a key that the file leaves out
    if (!target->is_object())
      throw InputError({"--set", ""},
                       fmt::format("\"{}\" cannot be set: \"{}\" is {}, not an object", dotted_path,
                                   walked, shown(*target)));
    target = &(*target)[step];
    walked += (walked.empty() ? "" : ".") + step;
    from = dot + 1;
  }
  Json parsed = Json::parse(text, nullptr, false);
  *target = parsed.is_discarded() ? Json(std::string(text)) : std::move(parsed);
  return JsonValue(std::make_shared<Node>(Node{root, root.get(), node_->file, ""}));
}

std::string JsonValue::dump() const {
  return node_->json->dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace amsp
