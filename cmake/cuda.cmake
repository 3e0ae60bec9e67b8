# CUDA and NCCL. Off by default, so that amsp neither needs nor loads them; the preset `gpu` demands
# them. Kernels (.cu) are C++17 and include none of our headers but their own: fmt 9.1 does not
# compile in a .cu file at C++20. All other CUDA code is plain C++ that calls the libraries.
option(AMSP_REQUIRE_CUDA "CUDA and NCCL must be there (preset gpu)" OFF)
option(AMSP_CUDA "Build what needs CUDA and NCCL" ${AMSP_REQUIRE_CUDA})
set(AMSP_HAVE_CUDA OFF)
if(NOT AMSP_CUDA AND NOT AMSP_REQUIRE_CUDA)
  return()
endif()

if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX} AND EXISTS /usr/local/cuda/bin/nvcc)
  set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80 90)  # A100/A800, H100/H200
endif()
enable_language(CUDA)
include(${CMAKE_CURRENT_LIST_DIR}/cuda_libraries.cmake)
set(AMSP_HAVE_CUDA ON)

# amsp_cuda_sources(TARGET FOLDER LIBS…): adds FOLDER/*.cpp, and its kernels as a library of their own.
function(amsp_cuda_sources TARGET FOLDER)
  file(GLOB hosts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${FOLDER}/*.cpp)
  file(GLOB kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${FOLDER}/*.cu)
  list(FILTER hosts EXCLUDE REGEX "_main\\.cpp$")
  target_sources(${TARGET} PRIVATE ${hosts})
  if(kernels)
    add_library(${TARGET}_kernels STATIC ${kernels})
    target_include_directories(${TARGET}_kernels PRIVATE ${PROJECT_SOURCE_DIR})
    set_target_properties(${TARGET}_kernels PROPERTIES CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON)
    target_link_libraries(${TARGET} PRIVATE ${TARGET}_kernels)
    set_property(GLOBAL APPEND PROPERTY AMSP_EXPORTED ${TARGET}_kernels)
  endif()
  target_link_libraries(${TARGET} PRIVATE ${ARGN})
endfunction()
