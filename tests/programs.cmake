# End-to-end tests that run the program.
add_test(NAME validate_quick COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/validate_quick.sh
  $<TARGET_FILE:amsp> ${PROJECT_SOURCE_DIR})
set_tests_properties(validate_quick PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 180 RUN_SERIAL ON)
if(TARGET test_exec)
  add_test(NAME exec_gpu COMMAND test_exec "[gpu]")
  set_tests_properties(exec_gpu PROPERTIES LABELS gpu SKIP_REGULAR_EXPRESSION "skipped: ")
endif()
