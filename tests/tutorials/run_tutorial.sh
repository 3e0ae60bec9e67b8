#!/bin/bash
# run_tutorial.sh TUTORIAL.md FOLDER_OF_AMSP SOURCE_TREE: does what a reader would do.
# ```sh blocks are run one after another in an empty folder; each line of a ```text block must come
# in the output of the commands before it, in that order ("…" stands for anything); ```cpp blocks
# that begin with "// file: PATH" must compile as that file. Other blocks are for reading only.
set -uo pipefail
tutorial=$1 source=$3
export PATH=$2:$PATH NO_COLOR=1
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/home" "$scratch/include" && cd "$scratch/home" || exit 2
for folder in "$source"/*/; do ln -s "${folder%/}" "$scratch/include/"; done
fail() { echo "FAILED in $tutorial, line $1: $2" >&2; exit 1; }

# Runs of blanks count as one; "…" is a wildcard.
matches() {
  local wanted=$1 got=$2 pattern
  pattern=${wanted//[[:space:]]/ }
  local part rest=$got
  local IFS=$'\x01'
  for part in ${pattern//…/$'\x01'}; do
    [[ $rest == *"$part"* ]] || return 1
    rest=${rest#*"$part"}
  done
}

check_text() {
  local line=$1 wanted got found
  mapfile -t outputs < <(tr -s ' \t' ' ' <"$scratch/output" | sed 's/^ //; s/ $//')
  local at=0
  while IFS= read -r wanted; do
    wanted=$(tr -s ' \t' ' ' <<<"$wanted" | sed 's/^ //; s/ $//')
    [[ -z $wanted || $wanted == "…" ]] && continue
    found=no
    while ((at < ${#outputs[@]})); do
      got=${outputs[at++]}
      if matches "$wanted" "$got"; then found=yes; break; fi
    done
    [[ $found == yes ]] || { cat "$scratch/output" >&2; fail "$line" "the output lacks: $wanted"; }
  done <"$scratch/block"
}

check_cpp() {
  local line=$1 name
  name=$(sed -n '1s,^// file: ,,p' "$scratch/block")
  [[ -z $name ]] && return
  mkdir -p "$scratch/code"
  cp "$scratch/block" "$scratch/code/$(basename "$name")"
  c++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I"$scratch/include" "$scratch/code/$(basename "$name")" ||
    fail "$line" "$name does not compile"
}

number=0 kind="" begun=0 ran=0
while IFS= read -r line; do
  ((++number))
  if [[ -z $kind && $line == '```'?* ]]; then
    kind=${line#'```'} begun=$number
    : >"$scratch/block"
  elif [[ -n $kind && $line == '```' ]]; then
    case $kind in
      sh)
        ((++ran))
        bash -euo pipefail "$scratch/block" >"$scratch/output" 2>&1 </dev/null ||
          { cat "$scratch/output" >&2; fail "$begun" "a command failed"; }
        ;;
      text) check_text "$begun" ;;
      cpp) ((++ran)); check_cpp "$begun" ;;
    esac
    kind=""
  elif [[ -n $kind ]]; then
    printf '%s\n' "$line" >>"$scratch/block"
  fi
done <"$tutorial"
[[ -z $kind ]] || fail "$begun" "a block is not closed"
((ran > 0)) || fail 1 "nothing to run"
echo "ok: $ran blocks"
