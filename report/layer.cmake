# Chakra traces are protobuf; the generated code is compiled without our warnings.
set(chakra_dir ${PROJECT_BINARY_DIR}/generated/chakra)
file(MAKE_DIRECTORY ${chakra_dir})
add_custom_command(
  OUTPUT ${chakra_dir}/et_def.pb.cc ${chakra_dir}/et_def.pb.h
  COMMAND ${Protobuf_PROTOC_EXECUTABLE} --cpp_out=${chakra_dir} -I${PROJECT_SOURCE_DIR}/report/chakra
    ${PROJECT_SOURCE_DIR}/report/chakra/et_def.proto
  DEPENDS ${PROJECT_SOURCE_DIR}/report/chakra/et_def.proto VERBATIM)
add_library(amsp_chakra STATIC ${chakra_dir}/et_def.pb.cc ${chakra_dir}/et_def.pb.h)
target_include_directories(amsp_chakra SYSTEM PUBLIC $<BUILD_INTERFACE:${chakra_dir}>)
target_link_libraries(amsp_chakra PUBLIC ${Protobuf_LITE_LIBRARIES} Threads::Threads)
target_include_directories(amsp_chakra SYSTEM PUBLIC $<BUILD_INTERFACE:${Protobuf_INCLUDE_DIRS}>)
target_link_libraries(amsp_report PRIVATE amsp_chakra)
set_property(GLOBAL APPEND PROPERTY AMSP_EXPORTED amsp_chakra)
