# cmake --install: program, libraries with headers (find_package(amsp)), data, documentation,
# completion and man page (made by the program itself). cpack -G DEB makes a Debian package.
set(amsp_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/amsp)
set(amsp_data_dir ${CMAKE_INSTALL_DATADIR}/amsp)

install(TARGETS amsp RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

# Every layer but the command line. The headers keep their folders: #include "sim/replay.hpp".
# Helper libraries of a layer are named in the global property AMSP_EXPORTED.
get_property(amsp_libraries GLOBAL PROPERTY AMSP_EXPORTED)
foreach(layer base topologies workloads calibrate sim exec scenarios report)
  list(APPEND amsp_libraries amsp_${layer})
  set_target_properties(amsp_${layer} PROPERTIES EXPORT_NAME ${layer})
  get_target_property(kind amsp_${layer} TYPE)
  set(scope PUBLIC)
  if(kind STREQUAL "INTERFACE_LIBRARY")
    set(scope INTERFACE)
  endif()
  target_include_directories(amsp_${layer} ${scope}
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/amsp>)
  install(DIRECTORY ${layer} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/amsp
    FILES_MATCHING PATTERN "*.hpp" PATTERN "html" EXCLUDE PATTERN "data" EXCLUDE)
endforeach()
install(TARGETS ${amsp_libraries} EXPORT amsp ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT amsp NAMESPACE amsp:: FILE amspTargets.cmake DESTINATION ${amsp_config_dir})
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/amspConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
configure_file(cmake/amspConfig.cmake.in ${PROJECT_BINARY_DIR}/amspConfig.cmake @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/amspConfig.cmake cmake/dependencies.cmake
  cmake/cuda_libraries.cmake ${PROJECT_BINARY_DIR}/amspConfigVersion.cmake DESTINATION ${amsp_config_dir})

foreach(kind topologies workloads/models calibrate/data scenarios)
  install(DIRECTORY ${kind}/ DESTINATION ${amsp_data_dir}/${kind}
    FILES_MATCHING PATTERN "*.json" PATTERN "*.csv" PATTERN "import" EXCLUDE PATTERN "validation" EXCLUDE)
endforeach()
install(PROGRAMS exec/testbed DESTINATION ${amsp_data_dir}/exec)
install(DIRECTORY report/html DESTINATION ${amsp_data_dir}/report)
install(FILES report/curve.gp DESTINATION ${amsp_data_dir}/report)
# README.md's links into docs/ hold where it is installed, too.
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")
install(FILES README.md CHANGELOG.md cmake/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

# What the program says about itself, at install time.
set(amsp_bash ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
set(amsp_zsh ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
set(amsp_man ${CMAKE_INSTALL_MANDIR}/man1)
install(CODE "
  set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  foreach(page \"bash|${amsp_bash}/amsp\" \"zsh|${amsp_zsh}/_amsp\" \"man|${amsp_man}/amsp.1\")
    string(REPLACE \"|\" \";\" page \"\${page}\")
    list(GET page 0 what)
    list(GET page 1 file)
    get_filename_component(folder \"\${prefix}/\${file}\" DIRECTORY)
    file(MAKE_DIRECTORY \"\${folder}\")
    execute_process(COMMAND \"$<TARGET_FILE:amsp>\" completion \${what}
      OUTPUT_FILE \"\${prefix}/\${file}\" COMMAND_ERROR_IS_FATAL ANY)
    message(STATUS \"Made: \${prefix}/\${file}\")
  endforeach()
")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME amsp)
set(CPACK_PACKAGE_CONTACT "amsp maintainers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "plans and simulates training jobs on GPU clusters")
set(CPACK_PACKAGE_DESCRIPTION "How should the model states of a training job be sharded on a cluster, and how
fast will it run? amsp plans, simulates, calibrates from NCCL logs, runs the same schedule on real
devices, and says how far off it was.")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gnuplot-nox, libjs-chart.js")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
include(CPack)
