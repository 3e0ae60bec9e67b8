#!/bin/bash
# Installs into a temporary prefix and tries what a user of the installation would: names, report,
# completion, man page, and a program of their own that links the libraries. Where namespaces
# allow, the source tree is hidden meanwhile, so that nothing can come from it.
set -euo pipefail
source=$1 build=$2
prefix=$(mktemp -d) && trap 'rm -rf "$prefix"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$prefix/usr" >"$prefix/install.log" || fail "cmake --install"
cp -r "$source/examples" "$prefix/examples"

cat >"$prefix/try.sh" <<'TRY'
set -euo pipefail
fail() { echo "FAILED: $*" >&2; exit 1; }
prefix=$1
amsp=$prefix/usr/bin/amsp
"$amsp" --version | grep >/dev/null '^amsp [0-9]' || fail "--version"
"$amsp" doctor | grep >/dev/null "topologies .* files in $prefix/usr/share/amsp/topologies" ||
  fail "data does not come from the prefix"
"$amsp" simulate paper-7b-amsp --gpus 32 -o "$prefix/out" | grep >/dev/null '^ *32 ' || fail "simulate"
"$amsp" report "$prefix/out" -o "$prefix/report.html" --quiet || fail "report"
grep -q 'paper-7b-amsp' "$prefix/report.html" || fail "the report lacks its data"
doc=$prefix/usr/share/doc/amsp
for link in $(grep -o '](docs/[^)#]*' "$doc/README.md" | cut -c3-); do
  [[ -e $doc/$link ]] || fail "README.md links to $link, which is not installed"
done
"$amsp" init -o "$prefix/scenario.json" --quiet || fail "init"
"$amsp" simulate "$prefix/scenario.json" >/dev/null || fail "simulate what init wrote"
status=0
"$amsp" validate --testbed 1x2 --quick --repetitions 1 --steps 1 >/dev/null 2>"$prefix/validate.err" || status=$?
# 1: a machine too busy for the bound; 77: no namespaces to be had here.
[[ $status == 0 || $status == 1 || $status == 77 ]] || { cat "$prefix/validate.err"; fail "validate: status $status"; }
bash -n "$prefix/usr/share/bash-completion/completions/amsp" || fail "bash completion"
grep -q '^#compdef amsp' "$prefix/usr/share/zsh/vendor-completions/_amsp" || fail "zsh completion"
grep -q 'amsp simulate' "$prefix/usr/share/man/man1/amsp.1" || fail "man page"
cmake -S "$prefix/examples" -B "$prefix/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix/usr" \
  -DCMAKE_BUILD_TYPE=Debug >"$prefix/configure.log" 2>&1 || { cat "$prefix/configure.log"; fail "find_package"; }
cmake --build "$prefix/build" >"$prefix/build.log" 2>&1 || { tail -30 "$prefix/build.log"; fail "build"; }
AMSP_DATA=$prefix/usr/share/amsp "$prefix/build/mesh_sweep" >"$prefix/example.txt" || fail "example"
[[ $(grep -c '^[0-9]x[0-9]' "$prefix/example.txt") == 5 ]] || fail "the example's table"
cat "$prefix/example.txt"
TRY

hide="mount -t tmpfs none '$source'"
if unshare --mount true 2>/dev/null && unshare --mount bash -c "$hide" 2>/dev/null; then
  unshare --mount bash -c "$hide && cd / && bash '$prefix/try.sh' '$prefix'"
else
  echo "note: no mount namespace here; the source tree stays visible"
  (cd / && bash "$prefix/try.sh" "$prefix")
fi
lines=$(wc -l <"$source/examples/mesh_sweep.cpp")
((lines < 60)) || fail "the example has $lines lines"
echo "ok"
