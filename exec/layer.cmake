amsp_family(exec backends "std::unique_ptr<Backend>" backend exec/backend.hpp all_backends)
if(AMSP_HAVE_CUDA)
  amsp_cuda_sources(amsp_exec exec/cuda CUDA::cudart CUDA::cublas nccl::nccl)
  target_compile_definitions(amsp_exec PRIVATE AMSP_HAVE_NCCL)
  add_executable(amsp_gpu_measure exec/cuda/gpu_measure_main.cpp)
  target_compile_options(amsp_gpu_measure PRIVATE ${AMSP_WARNINGS})
  target_link_libraries(amsp_gpu_measure PRIVATE amsp_exec amsp_exec_kernels CUDA::cudart CUDA::cublas
    nccl::nccl fmt::fmt nlohmann_json::nlohmann_json)
endif()
