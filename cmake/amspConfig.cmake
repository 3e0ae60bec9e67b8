# find_package(amsp) gives amsp::base, amsp::topologies, amsp::workloads, amsp::calibrate, amsp::sim,
# amsp::exec, amsp::scenarios and amsp::report; each brings what is below it.
include(${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/amspTargets.cmake)
