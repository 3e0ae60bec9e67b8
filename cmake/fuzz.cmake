# libFuzzer targets (clang only): LAYER/**/NAME_fuzz.cpp, which defines LLVMFuzzerTestOneInput,
# becomes fuzz_NAME, with AddressSanitizer and UndefinedBehaviorSanitizer. Build and run:
#   cmake --preset fuzz && cmake --build build/fuzz --target fuzz_topo_matrix
#   build/fuzz/fuzz_topo_matrix -max_total_time=600 WORK_FOLDER SEED_FOLDER
# amsp_fuzz_flags() goes before the layers, amsp_fuzz_targets() after them.

macro(amsp_fuzz_flags)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "AMSP_FUZZ needs clang (CMAKE_CXX_COMPILER=clang++-14)")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endmacro()

function(amsp_fuzz_targets)
  foreach(layer ${ARGN})
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${layer}/*_fuzz.cpp)
    foreach(file ${files})
      get_filename_component(name ${file} NAME_WE)
      string(REGEX REPLACE "_fuzz$" "" name ${name})
      add_executable(fuzz_${name} ${file})
      target_link_libraries(fuzz_${name} PRIVATE amsp_${layer})
      target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    endforeach()
  endforeach()
endfunction()
