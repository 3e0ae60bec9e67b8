// SPDX-License-Identifier: Apache-2.0
#include "exec/backend.hpp"

#include "base/error.hpp"

namespace amsp {

std::unique_ptr<Backend> find_backend(std::string_view name) {
  std::vector<std::string> names;
  for (std::unique_ptr<Backend>& backend : all_backends()) {
    if (backend->name() == name) return std::move(backend);
    names.emplace_back(backend->name());
  }
  throw InputError(unknown_name("backend", name, names));
}

}  // namespace amsp
