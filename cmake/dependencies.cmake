# Every library is a Debian 12 package (packages.txt); nothing is vendored.
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(Boost 1.74 REQUIRED)
find_package(pugixml REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)
find_package(CLI11 REQUIRED)
find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_package(benchmark QUIET)

# SimGrid 3.32 and Gloo ship no CMake configuration.
function(amsp_plain_library TARGET HEADER LIBRARY)
  find_path(${LIBRARY}_INCLUDE ${HEADER} REQUIRED)
  find_library(${LIBRARY}_LIBRARY ${LIBRARY} REQUIRED)
  add_library(${TARGET} UNKNOWN IMPORTED)
  set_target_properties(${TARGET} PROPERTIES IMPORTED_LOCATION ${${LIBRARY}_LIBRARY}
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${${LIBRARY}_INCLUDE})
endfunction()
amsp_plain_library(simgrid::simgrid simgrid/s4u.hpp simgrid)
amsp_plain_library(gloo::gloo gloo/config.h gloo)
