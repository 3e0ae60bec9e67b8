#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# amsp validate on "hosts": local processes; ranks in a launcher's environment; and ssh, played by
# a script that runs its command here. What is checked is that the whole chain runs, reports all
# schedules and leaves nothing behind; the figures are this machine's, and no bound is put on them.
set -uo pipefail
amsp=$(realpath "$1")
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
fail() { echo "FAILED: $*" >&2; cat out err >&2; exit 1; }
quick=(--quick --repetitions 3 --steps 2)

check_json() {
  python3 - "$1" <<'PYTHON' || fail "$2"
import json, sys
report = json.load(open(sys.argv[1]))
assert [s["name"] for s in report["schedules"]] == ["DDP", "ZeRO-1", "HSDP", "AMSP, OS in a node"]
assert all(s["predicted_s"] > 0 and s["measured_s"] > 0 for s in report["schedules"])
assert len(report["collectives"]) >= 5
PYTHON
}
left() { pgrep -f "$amsp exec --stand-by" >/dev/null && fail "$1: ranks are left behind"; }

"$amsp" validate --hosts localhost:2 "${quick[@]}" -o local.json --save-measurements saved \
  --html page.html --timeline line.json >out 2>err || fail "localhost: status $?"
check_json local.json localhost
[ "$(wc -l <saved/collectives.csv)" = 11 ] || fail "localhost: 5 kinds x 2 sizes and a title"
grep -q traceEvents line.json && grep -q '<html' page.html || fail "localhost: timeline or page"
"$amsp" calibrate saved/collectives.csv --parse-only >out 2>err || fail "the CSV is not read back"

mkdir bin
cat >bin/ssh <<'SSH'
#!/bin/sh
while [ $# -gt 2 ]; do shift; done
[ "$1" = unreachable ] && { echo "ssh: no route to $1" >&2; exit 255; }
exec sh -c "$2"
SSH
chmod +x bin/ssh
printf '# two hosts\nfar slots=1\nfarther:1\n' >hostfile
PATH=$scratch/bin:$PATH "$amsp" validate --hosts hostfile --address 127.0.0.1 "${quick[@]}" \
  -o ssh.json >out 2>err || fail "ssh: status $?"
check_json ssh.json ssh
grep -q "^amsp: ssh far for" err || fail "ssh: the command is not shown"
left ssh
PATH=$scratch/bin:$PATH "$amsp" validate -q --hosts hostfile --address 127.0.0.1 "${quick[@]}" \
  >out 2>err || fail "quiet: status $?"
[ -s err ] && fail "quiet: stderr has $(head -1 err)"

PATH=$scratch/bin:$PATH "$amsp" validate --hosts far:1,unreachable:1 --address 127.0.0.1 \
  "${quick[@]}" >out 2>err
[ $? = 1 ] || fail "unreachable: status"
grep -q "the command on unreachable ended with status 255" err || fail "unreachable: message"
left unreachable

for rank in 1 0; do
  RANK=$rank WORLD_SIZE=2 LOCAL_RANK=$rank MASTER_ADDR=127.0.0.1 MASTER_PORT=$((21000 + $$ % 8000)) \
    "$amsp" validate --hosts env "${quick[@]}" -o "env$rank.json" >out 2>>err &
done
wait -n && wait || fail "env: a rank failed"
check_json env0.json env
[ ! -e env1.json ] || fail "env: a rank other than 0 wrote a report"

"$amsp" validate --hosts a:2,b:3 >out 2>err
[ $? = 2 ] && grep -q "a has 2 ranks, b has 3" err || fail "unequal hosts"
env -u RANK -u SLURM_PROCID -u OMPI_COMM_WORLD_RANK "$amsp" validate --hosts env >out 2>err
[ $? = 2 ] && grep -q "no launcher" err || fail "env without a launcher"
echo ok
