# The CUDA toolkit and NCCL as imported targets: for the build (cuda.cmake), and for programs that link
# an installation that was built with CUDA (amspConfig.cmake).
find_package(CUDAToolkit REQUIRED)
find_path(nccl_INCLUDE nccl.h REQUIRED
  HINTS ${CUDAToolkit_INCLUDE_DIRS} ${CUDAToolkit_TARGET_DIR}/include /usr/local/cuda/include)
find_library(nccl_LIBRARY nccl REQUIRED
  HINTS ${CUDAToolkit_LIBRARY_DIR} /usr/local/cuda/lib /usr/local/cuda/lib64)
add_library(nccl::nccl UNKNOWN IMPORTED)
set_target_properties(nccl::nccl PROPERTIES IMPORTED_LOCATION ${nccl_LIBRARY}
  INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${nccl_INCLUDE})
