# Where shipped data lies: only this file knows.
set_source_files_properties(${PROJECT_SOURCE_DIR}/base/file.cpp PROPERTIES COMPILE_DEFINITIONS
  "AMSP_SOURCE_DATA=\"${PROJECT_SOURCE_DIR}\";AMSP_INSTALLED_DATA=\"${CMAKE_INSTALL_FULL_DATADIR}/amsp\"")
