#!/bin/bash
# What CONTRIBUTING.md asks of every file, checked: lengths, names, leftovers, paths of a machine.
set -uo pipefail
cd "$1" || exit 2
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
complain() { printf '%s\n' "$1" | sed "s|^|$2: |"; touch "$scratch/bad"; }
check() { local found; found=$(cat); [[ -z $found ]] || complain "$found" "$1"; }

layers=(base topologies workloads calibrate sim exec scenarios report cli)
mapfile -t headers < <(find "${layers[@]}" tests bench examples -name '*.hpp' 2>/dev/null | sort)
mapfile -t sources < <(find "${layers[@]}" tests bench examples -name '*.cpp' 2>/dev/null | sort)
mapfile -t texts < <(git ls-files 2>/dev/null | grep -vE '\.(csv|svg|png)$' ||
  find . -type f -not -path './.git/*' -not -path './build/*' -not -path './out/*' | grep -vE '\.(csv|svg|png)$')

longer() { local limit=$1; shift; wc -l "$@" | awk -v limit="$limit" '$2 != "total" && $1 > limit {print $2 " has " $1 " lines"}'; }
longer 150 "${headers[@]}" | check "header longer than 150 lines"
longer 400 "${sources[@]}" | check "source longer than 400 lines"

# A function begins with a line in column 0 that has a "(" and is no namespace, class or table, and
# whose "{" ends it or a later line; it ends at the next "}" in column 0. Members inside a class begin
# in column 2.
awk 'FNR == 1 {inside = begun = 0}
  !inside && !begun && /^[A-Za-z~].*\(/ && !/^(namespace|class|struct|enum|TEST_CASE|template)/ {begun = 1; from = FNR; name = $0}
  begun && /\{$/ {inside = 1; begun = 0}
  begun && /[;}]$/ {begun = 0}
  inside && /^\}/ {if (FNR - from - 1 > 60) print FILENAME ":" from " " FNR - from - 1 " lines: " name; inside = 0}' \
  "${headers[@]}" "${sources[@]}" | check "function longer than 60 lines"
awk '/^  [A-Za-z~].*\)[^;]*\{$/ && !/^  (namespace|class|struct|enum|if|for|while|switch|else|return|do|SECTION|rc::prop)/ && !inside {inside = 1; from = FNR; file = FILENAME; name = $0}
  FILENAME != file {inside = 0}
  inside && /^  \}/ {if (FNR - from - 1 > 60) print FILENAME ":" from " " FNR - from - 1 " lines: " name; inside = 0}' \
  "${headers[@]}" "${sources[@]}" | check "member function longer than 60 lines"

# Texts in R"(...)" are data.
awk 'FNR == 1 {raw = 0}
  {line = $0; gsub(/[\200-\277]/, "", line); was = raw}
  /R"[a-z]*\(/ {raw = 1}
  /\)[a-z]*"/ {raw = 0}
  !was && !raw && length(line) > 100 {print FILENAME ":" FNR}' \
  "${headers[@]}" "${sources[@]}" | check "line longer than 100 characters"
grep -nE '\b(TO[D]O|FIX[M]E|XX[X]|HACK)\b' "${headers[@]}" "${sources[@]}" | check "leftover"
printf '%s\n' "${headers[@]}" "${sources[@]}" | grep -E '/(utils?|common|helpers?|misc|manager)\.' |
  check "name that says nothing"
# Pages that code and pages name are there; so is what pages link to.
grep -ohE 'docs/[a-z0-9/_-]+\.(md|svg)' "${headers[@]}" "${sources[@]}" README.md CONTRIBUTING.md docs -r | sort -u |
  while read -r page; do [[ -e $page ]] || echo "$page"; done | check "page that is named but not there"
for page in README.md CONTRIBUTING.md $(find docs -name '*.md'); do
  grep -oE '\]\([^)#: ]+[)#]' "$page" | sed 's/^](//; s/[)#]$//' |
    while read -r link; do [[ -e $(dirname "$page")/$link ]] || echo "$page: $link"; done
done | check "link that leads nowhere"
grep -L '^// SPDX-License-Identifier: Apache-2.0' "${headers[@]}" | check "no licence line"
grep -L '#pragma once' "${headers[@]}" | check "no #pragma once"
grep -lE '#include <(simgrid|nlohmann/json\.hpp|CLI|catch2|Eigen|boost|pugixml|gloo)' \
  $(printf '%s\n' "${headers[@]}" | grep -vE '^tests/|^(sim/simgrid_|topologies/import/xml_document)') \
  /dev/null | check "heavy header in a header"  # the exceptions are private to one engine, one importer
grep -nE '/(work|home|root|Users)/[a-z]' "${texts[@]}" 2>/dev/null |
  grep -v '^tests/tidy/' | check "path of a machine"

# Links between documents lead somewhere, and the model's index has every page.
find . -name '*.md' -not -path './build/*' | sort | while read -r page; do
  grep -oE '\]\([^)#: ]+(#[^)]*)?\)' "$page" | sed -E 's/^\]\(//; s/(#.*)?\)$//' | while read -r link; do
    [[ -e $(dirname "$page")/$link ]] || echo "$page: $link"
  done
done | check "link to nowhere"
for page in docs/model/*.md; do
  grep -q "(model/$(basename "$page"))" docs/model.md || echo "$page"
done | check "page that docs/model.md does not list"

# A header compiles by itself. Where its own source includes it first, the build has shown it; the
# others are compiled here, all layers visible.
include=$scratch/include && mkdir "$include"
for layer in "${layers[@]}"; do [[ -d $layer ]] && ln -s "$PWD/$layer" "$include/$layer"; done
for header in "${headers[@]}"; do
  # Headers of CUDA code compile where CUDA is.
  [[ $header == tests/* || $header == *cuda* || $header == *microbench* ]] && continue
  own=${header%.hpp}.cpp
  [[ -e $own && $(grep -m1 '^#include' "$own") == "#include \"$header\"" ]] && continue
  echo "#include \"$header\""
done >"$include/list"
while read -r line; do
  echo "$line" | c++ -std=c++20 -fsyntax-only -I"$include" -x c++ - 2>"$include/error" ||
    complain "$(grep -m1 error "$include/error")" "header does not compile alone"
done <"$include/list"
[[ ! -e $scratch/bad ]]
