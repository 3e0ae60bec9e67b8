// SPDX-License-Identifier: Apache-2.0
#include "topologies/import/nccl_graph.hpp"

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/error.hpp"
#include "base/units_text.hpp"
#include "topologies/import/xml_document.hpp"

namespace amsp {
namespace {

// NCCL's graph.h: NCCL_TOPO_PATTERN_BALANCED_TREE 1 … COLLNET_DIRECT 6.
std::string pattern_name(int pattern) {
  constexpr const char* names[] = {"?",    "balanced tree", "split tree",    "tree",
                                   "ring", "NVLS",          "CollNet direct"};
  return pattern >= 1 && pattern <= 6 ? names[pattern] : fmt::format("pattern {}", pattern);
}

// GB/s, as NCCL's search counts them.
Bandwidth speed_of(const pugi::xml_node& graph, const char* attribute) {
  const double speed = number_of(graph, attribute).value_or(0);
  return gigabytes_per_second(speed < 0 ? 0 : speed);
}

ImportedGraph read_graph(const pugi::xml_node& element) {
  ImportedGraph graph;
  graph.id = integer_of(element, "id", 0, 1000, -1);
  graph.pattern = integer_of(element, "pattern", 0, 1000, 0);
  graph.pattern_name = pattern_name(graph.pattern);
  graph.channels = integer_of(element, "nchannels", 0, 1024, 0);
  // Before NCCL 2.8 there was one speed for both.
  const bool one_speed = element.attribute("speed") && !element.attribute("speedintra");
  graph.intra = speed_of(element, one_speed ? "speed" : "speedintra");
  graph.inter = speed_of(element, one_speed ? "speed" : "speedinter");
  graph.type_intra = element.attribute("typeintra").as_string("?");
  graph.type_inter = element.attribute("typeinter").as_string("?");
  for (const pugi::xml_node& channel : element.children("channel")) {
    std::string order;
    for (const pugi::xml_node& hop : channel.children())
      if (hop.type() == pugi::node_element)
        order += fmt::format("{}{}{}", order.empty() ? "" : " ", hop.name(),
                             hop.attribute("dev").as_string("?"));
    graph.orders.push_back(order);
  }
  return graph;
}

void collect(const pugi::xml_node& parent, NcclGraphs& graphs) {
  for (const pugi::xml_node& child : parent.children("graph"))
    graphs.graphs.push_back(read_graph(child));
}

}  // namespace

NcclGraphs parse_nccl_graphs(std::string_view text, std::string_view file) {
  XmlText xml;
  load_xml(text, file, xml);
  NcclGraphs graphs;
  graphs.notes = xml.notes;
  collect(xml.document, graphs);
  for (const pugi::xml_node& root : xml.document.children("graphs")) collect(root, graphs);
  if (graphs.graphs.empty()) throw InputError({std::string(file), ""}, "no <graph> element found");
  for (const ImportedGraph& graph : graphs.graphs)
    if (static_cast<int>(graph.orders.size()) != graph.channels)
      graphs.notes.push_back(fmt::format("graph {} states {} and lists {}", graph.id,
                                         counted(graph.channels, "channel"), graph.orders.size()));
  return graphs;
}

std::string describe(const NcclGraphs& graphs) {
  std::string out =
      fmt::format("{:>5} {:<15} {:>8} {:>13} {:>13} {:>11} {:>11}\n", "graph", "pattern",
                  "channels", "intra/channel", "inter/channel", "worst intra", "worst inter");
  for (const ImportedGraph& graph : graphs.graphs) {
    out += fmt::format("{:>5} {:<15} {:>8} {:>13} {:>13} {:>11} {:>11}\n", graph.id,
                       graph.pattern_name, graph.channels, human(graph.intra), human(graph.inter),
                       graph.type_intra, graph.type_inter);
    for (const std::string& order : graph.orders) out += fmt::format("      {}\n", order);
  }
  for (const std::string& note : graphs.notes) out += fmt::format("note: {}\n", note);
  return out;
}

}  // namespace amsp
