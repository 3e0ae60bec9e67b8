add_test(NAME install COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/install/install_test.sh
  ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
set_tests_properties(install PROPERTIES TIMEOUT 900 LABELS programs)
