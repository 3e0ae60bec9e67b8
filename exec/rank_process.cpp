// SPDX-License-Identifier: Apache-2.0
#include "exec/rank_process.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sched.h>
#include <sys/resource.h>

#include <exception>

#include "exec/backend.hpp"

namespace amsp {
namespace {

struct InterfaceAddress {
  std::string interface, address;
  bool loopback;
};

std::vector<InterfaceAddress> ipv4_addresses() {
  std::vector<InterfaceAddress> result;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return result;
  for (const ifaddrs* at = list; at; at = at->ifa_next) {
    if (!at->ifa_addr || at->ifa_addr->sa_family != AF_INET || !(at->ifa_flags & IFF_UP)) continue;
    char text[NI_MAXHOST] = "";
    getnameinfo(at->ifa_addr, sizeof(sockaddr_in), text, sizeof text, nullptr, 0, NI_NUMERICHOST);
    result.push_back({at->ifa_name, text, (at->ifa_flags & IFF_LOOPBACK) != 0});
  }
  freeifaddrs(list);
  return result;
}

// Seen from the coordinator's clock. Ranks on its host share the clock: no correction, no noise.
void to_common_clock(RankTimes& times, ControlLink& link, const std::string& boot) {
  if (link.get("boot") == boot) return;
  const Seconds offset = link.clock_offset();
  for (std::vector<OpTime>& op : times)
    for (OpTime& time : op)
      if (time.end > Seconds()) time = {time.ready + offset, time.end + offset};
}

}  // namespace

std::vector<std::string> addresses_beside(const std::string& address) {
  const std::vector<InterfaceAddress> all = ipv4_addresses();
  std::string interface;
  for (const InterfaceAddress& one : all)
    if (one.address == address && !one.loopback) interface = one.interface;
  std::vector<std::string> others;
  for (const InterfaceAddress& one : all)
    if (one.interface == interface && one.address != address) others.push_back(one.address);
  if (others.empty()) others.push_back(address);
  return others;
}

std::string first_address() {
  for (const InterfaceAddress& one : ipv4_addresses())
    if (!one.loopback) return one.address;
  return "127.0.0.1";
}

void take_part(const ExecJob& job, const RankPlace& place, ControlLink& link) {
  try {
    const std::string host = place.host.empty() ? link.own_address() : place.host;
    const auto backend = find_backend(job.options.backend);
    const RankContext context{job, place.rank, place.local_rank, link, addresses_beside(host)};
    RankTimes times = backend->run(context);
    to_common_clock(times, link, hello_of_this_host(place.rank, job.schedule.world, "").boot);
    link.finish(pack(times));
  } catch (const std::exception& error) {
    link.fail(error.what());
  }
}

void live_as_rank(const ExecJob& job, const RankPlace& place, ControlLink& link) {
  try {
    if (!link.join(hello_of_this_host(place.rank, job.schedule.world, digest_of(job)))) return;
  } catch (const std::exception& error) {
    link.fail(error.what());
  }
  take_part(job, place, link);
}

void favour_timed_rank() {
  const sched_param lowest_real_time{1};
  if (sched_setscheduler(0, SCHED_RR, &lowest_real_time) == 0) return;
  setpriority(PRIO_PROCESS, 0, -10);
}

}  // namespace amsp
