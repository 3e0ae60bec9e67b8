#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kill_ranks.sh AMSP [COUNT]: breaks running jobs at random, COUNT times (default 8): a rank is
# killed, or stopped, or has another schedule, or the launcher itself is killed. Each time the job
# must end in time, with a message naming the rank, and leave no process and no file behind.
# SEED=N repeats a run.
set -uo pipefail
amsp=$(realpath "$1") count=${2:-8}
RANDOM=${SEED:=$RANDOM}
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/job" "$scratch/tmp" && cd "$scratch/job" || exit 2
export TMPDIR=$scratch/tmp
mark="amsp-kill-$$-$RANDOM"  # finds the job's processes again, whoever their parent is
echo "seed $SEED"

# schedule RANKS BYTES: computation beside all-reduces and all-gathers.
schedule() {
  local ops='' i
  for i in 1 2 3; do
    ops+="${ops:+,}{\"name\":\"work$i\",\"stream\":\"compute\",\"kernels\":[{\"kind\":\"fixed\",\"duration\":\"3ms\"}]}"
    ops+=",{\"name\":\"reduce$i\",\"stream\":\"network\",\"after\":[\"work$i\"],\"collective\":{\"kind\":\"all_reduce\",\"communicator\":\"all\",\"bytes\":\"$2\",\"dtype\":\"fp32\"}}"
    ops+=",{\"name\":\"gather$i\",\"stream\":\"network\",\"collective\":{\"kind\":\"all_gather\",\"communicator\":\"all\",\"bytes\":\"$2\",\"dtype\":\"fp32\"}}"
  done
  printf '{"name":"%s","world":%d,"streams":[{"name":"compute","compute":true},{"name":"network"}],' "$mark" "$1"
  printf '"communicators":[{"name":"all","axes":[{"size":%d,"member":true}]}],' "$1"
  printf '"blocks":[{"name":"step","ops":[%s]}]}\n' "$ops"
}

failed=0
fail() { echo "FAILED: $*" >&2; sed 's/^/  /' errors >&2; failed=1; }

# The job is endless for our purpose: what ends it is the fault.
start() {
  MARK=$mark "$amsp" exec schedule.json --steps 100000 --timeout 2s --check >output 2>errors &
  job=$!
}
ranks_of() { pgrep -P "$job" | sort -n; }

break_rank() {
  local signal=$1 ranks=$2 victim pids
  start
  for _ in $(seq 100); do
    mapfile -t pids < <(ranks_of)
    [ "${#pids[@]}" = "$ranks" ] && break
    sleep 0.05
  done
  sleep "0.$(printf '%03d' $((RANDOM % 900)))"
  victim=$((RANDOM % ranks))
  begun=$SECONDS
  kill "-$signal" "${pids[$victim]}"
  what="$signal of rank $victim of $ranks"
  wait "$job"
  status=$?
  [ "$status" = 1 ] || fail "$what: exit status $status"
  grep -q "rank $victim " errors || fail "$what: the message does not name it"
}

kill_launcher() {
  start
  sleep "0.$(printf '%03d' $((RANDOM % 900)))"
  what="KILL of the launcher"
  begun=$SECONDS
  kill -KILL "$job"
  wait "$job" 2>/dev/null
}

disagree() {
  local ranks=$1 odd=$((RANDOM % $1)) rank pids=()
  what="rank $odd of $ranks disagrees"
  schedule "$ranks" 8192B >other.json
  for ((rank = 0; rank < ranks; rank++)); do
    local file=schedule.json
    [ "$rank" = "$odd" ] && file=other.json
    MARK=$mark RANK=$rank WORLD_SIZE=$ranks LOCAL_RANK=$rank MASTER_ADDR=127.0.0.1 \
      MASTER_PORT=$((20000 + ($$ + $2) % 9000)) "$amsp" exec "$file" --timeout 5s >output 2>>errors &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do
    wait "$pid"
    status=$?
    { [ "$status" = 1 ] || [ "$status" = 2 ]; } || fail "$what: exit status $status"
  done
  # Of two ranks neither is in the majority.
  grep -Eq "rank $( ((ranks > 2)) && echo "$odd" || echo '[01]') disagrees" errors ||
    fail "$what: the message does not name it"
}

for ((i = 0; i < count; i++)); do
  rm -f ./*
  ranks=$((2 + RANDOM % 3))
  schedule $ranks "$((1 + RANDOM % 64))KiB" >schedule.json
  : >errors
  begun=$SECONDS
  case $((RANDOM % 8)) in
    [0-3]) break_rank KILL $ranks ;;
    [45]) break_rank STOP $ranks ;;
    6) disagree $ranks $i ;;
    7) kill_launcher ;;
  esac
  took=$((SECONDS - begun))
  ((took <= 20)) || fail "$what: took $took s"
  for _ in $(seq 40); do
    left=$(grep -lsz "^MARK=$mark" /proc/[0-9]*/environ)
    [ -z "$left" ] && break
    sleep 0.05
  done
  [ -z "$left" ] || fail "$what: left behind $left"
  [ -z "$(ls "$TMPDIR")" ] || fail "$what: left files: $(ls "$TMPDIR")"
  rm -f errors output other.json schedule.json
  [ -z "$(ls -A)" ] || fail "$what: left files: $(ls -A)"
  echo "$what: ended within $took s"
done
exit $failed
