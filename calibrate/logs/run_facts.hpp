// SPDX-License-Identifier: Apache-2.0
// What a log says around its tables: devices, hosts, versions, commands, environment.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/logs/measurement.hpp"

namespace amsp {

// "#  Rank  0 Group  0 Pid   1001 on     host-a device  0 [0x07] NVIDIA A100-SXM4-40GB"
struct DeviceLine {
  int rank = 0;
  int group = 0;
  std::string host;
  std::optional<int> device;
  std::string name;
};

struct RunFacts {
  std::vector<DeviceLine> devices;
  bool devices_elided = false;    // "…" somewhere in the list
  bool devices_open_end = false;  // "…" after its last line

  std::optional<int> threads;  // "# nThread 1 nGpus 8 …"
  std::optional<int> gpus_a_process;
  std::string stated_test;   // "# Collective test starting: all_reduce_perf"
  std::string command_test;  // program named in a command line
  std::string info_test;     // "AllReduce: opCount …" or "Broadcast: 1024 Bytes -> …"
  std::optional<int> info_ranks, info_nodes, info_local_ranks;  // NCCL INFO "… nranks 16 …"
  std::optional<int> launched_ranks;                            // mpirun -np 16, SLURM_NTASKS=16
  std::set<std::string> info_hosts;
  std::string library, library_version, header_version;
  std::vector<std::string> nics;
  std::optional<int> nics_per_node;
  std::string network, algorithm, protocol;
  std::string failure;
  std::vector<TuningChoice> tuning_choices;
  std::vector<TuningModel> tuning_models;
  std::vector<std::string> tuning_block;  // algorithms of the block of NCCL's table being read
};

// Takes what the line says (cleaned, with NCCL's INFO text). True when the line is a device line.
bool take_device_line(std::string_view cleaned, RunFacts& facts);
void take_fact_line(std::string_view cleaned, std::size_t line, RunFacts& facts);
// Also the lines of NCCL's tuner ("Broadcast: 1024 Bytes -> Algo RING …" and its table).
void take_tuning_line(std::string_view noise, std::size_t line, RunFacts& facts);

// Facts of the devices of a run, for JSON logs as well.
void take_device(DeviceLine device, RunFacts& facts);

}  // namespace amsp
