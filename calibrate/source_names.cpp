// SPDX-License-Identifier: Apache-2.0
#include "calibrate/source_names.hpp"

#include <algorithm>
#include <filesystem>

namespace amsp {
namespace {

using Components = std::vector<std::string>;

Components components_of(const std::string& path) {
  Components components;
  for (const auto& part : std::filesystem::path(path).lexically_normal())
    components.push_back(part.string());
  return components;
}

// The last `count` components; all where there are fewer.
std::string ending(const Components& components, std::size_t count) {
  std::filesystem::path path;
  const std::size_t first = components.size() - std::min(count, components.size());
  for (std::size_t i = first; i < components.size(); ++i) path /= components[i];
  return path.string();
}

}  // namespace

std::map<std::string, std::string> source_names(const std::vector<std::string>& paths) {
  std::map<std::string, Components> known;
  for (const std::string& path : paths) known.emplace(path, components_of(path));
  std::map<std::string, std::string> names;
  for (const auto& [path, components] : known) {
    const auto is_alone = [&, &own = components](std::size_t count) {
      return std::none_of(known.begin(), known.end(), [&](const auto& other) {
        return other.second != own && ending(other.second, count) == ending(own, count);
      });
    };
    std::size_t count = 1;
    while (count < components.size() && !is_alone(count)) ++count;
    names[path] = ending(components, count);
  }
  return names;
}

}  // namespace amsp
