// SPDX-License-Identifier: Apache-2.0
#include "report/notes.hpp"

#include <set>
#include <string_view>

namespace amsp {
namespace {

template <class Runs>
std::vector<std::string> notes_in(const Runs& runs) {
  std::vector<std::string> all;
  for (const auto& one : runs) all.insert(all.end(), one.run.notes.begin(), one.run.notes.end());
  return each_once(all);
}

}  // namespace

std::vector<std::string> each_once(const std::vector<std::string>& notes) {
  std::set<std::string_view> said;
  std::vector<std::string> once;
  for (const std::string& note : notes)
    if (said.insert(note).second) once.push_back(note);
  return once;
}

std::vector<std::string> notes_of(const std::vector<ReportedRun>& runs) { return notes_in(runs); }
std::vector<std::string> notes_of(const Plan& plan) { return notes_in(plan.best); }

}  // namespace amsp
