#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# gpu_check_test.sh SOURCE: exec/gpu_check on a machine whose GPU, compiler and programs are played
# by scripts: what it does when each of them fails, and that its JSON is JSON.
set -uo pipefail
source=$1
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch"/{exec,bin,out,build/gpu/tests} && cd "$scratch" || exit 2
cp "$source/exec/gpu_check" exec/
fail() { echo "FAILED: $*" >&2; cat table errors >&2; exit 1; }

# play FILE 'SCRIPT': a program that the check calls.
play() { printf '#!/bin/sh\n%s\n' "$2" >"$1" && chmod +x "$1"; }
all_well() {
  play bin/nvidia-smi 'echo "GPU 0: NVIDIA H200 (UUID: GPU-1)"'
  play bin/cmake 'exit 0'
  play build/gpu/tests/test_exec 'echo "All tests passed"'
  play build/gpu/amsp_gpu_measure 'echo "{\"gemm\": [{\"m\": 1, \"tflops\": 600}]}"'
  play build/gpu/amsp 'echo "$1 gpu_check: step time 10 ms"'
}
# check STATUS: runs it, compares its exit status.
check() {
  rm -f out/*
  PATH=$scratch/bin:$PATH exec/gpu_check out >table 2>errors
  local status=$?
  [ "$status" = "$1" ] || fail "$what: exit status $status, not $1"
}
# json EXPRESSION: holds for the report.
json() {
  python3 -c "import json; r = json.load(open('out/gpu_check.json')); assert $1, r" ||
    fail "$what: $1"
}

what="all well"
all_well
check 0
json 'set(r["outcome"].values()) == {"ok"} and len(r["outcome"]) == 6'
json 'r["figures"]["gemm"][0]["tflops"] == 600 and "H200" in r["gpu"] and "10 ms" in r["exec_step"]'
grep -q '^measure  *ok' table || fail "$what: table"

what="no GPU"
play bin/nvidia-smi 'echo "No devices were found"; exit 6'
check 2
grep -q "no GPU on this machine" errors || fail "$what: message"

what="no CUDA"
all_well
play bin/cmake '[ "$1" = --build ] || { echo "no nvcc"; exit 1; }'
check 2
grep -q "CUDA or NCCL is missing" errors || fail "$what: message"

what="does not compile"
all_well
play bin/cmake '[ "$1" = --build ] && { echo "x.cu: error: y"; exit 1; }; exit 0'
check 1
grep -q "x.cu: error: y" errors || fail "$what: message"

what="a failed measurement with quotes in its message"
all_well
play build/gpu/amsp_gpu_measure 'echo "cublas says \"no\" \\ " >&2; exit 3'
check 1
json '"cublas says no" in r["outcome"]["measure"] and r["figures"] is None'
json 'r["outcome"]["exec"] == "ok"'

what="a wrong collective"
all_well
play build/gpu/amsp 'case "$*" in *--check) echo "amsp: element 1 is wrong" >&2; exit 1;; esac; echo fine'
check 1
json '"element 1 is wrong" in r["outcome"]["check"]'

what="two ranks on one GPU refused: a finding, no fault"
all_well
play build/gpu/amsp 'case "$*" in *two.json*) echo "duplicate GPU" >&2; exit 1;; esac; echo fine'
check 0
json '"duplicate GPU" in r["outcome"]["two_ranks"]'
echo ok
