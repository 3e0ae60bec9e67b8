#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The short validation: predicted against executed on a small testbed, with a generous bound, since
# the machine may be busy. Prints the real figures. Exit status 77 (skipped) without namespaces.
set -u
amsp=$1 source=$2
"$source/exec/testbed" probe --name quickprobe || exit $?
exec timeout 175 "$amsp" validate --testbed 2x2 --intra 200mbit --inter 80mbit --quick \
  --repetitions 3 --steps 3 --require 25%
