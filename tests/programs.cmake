# End-to-end tests that run the program.
add_test(NAME validate_quick COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/validate_quick.sh
  $<TARGET_FILE:amsp> ${PROJECT_SOURCE_DIR})
set_tests_properties(validate_quick PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 180 RUN_SERIAL ON)
if(TARGET test_exec)
  add_test(NAME exec_gpu COMMAND test_exec "[gpu]")
  set_tests_properties(exec_gpu PROPERTIES LABELS gpu SKIP_REGULAR_EXPRESSION "skipped: ")
endif()
add_test(NAME kill_ranks COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/exec/kill_ranks.sh $<TARGET_FILE:amsp> 6)
set_tests_properties(kill_ranks PROPERTIES TIMEOUT 180 ENVIRONMENT "SEED=20231")
add_test(NAME validate_hosts COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/validate_hosts.sh $<TARGET_FILE:amsp>)
set_tests_properties(validate_hosts PROPERTIES TIMEOUT 300 RUN_SERIAL ON)
add_test(NAME gpu_check COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/exec/gpu_check_test.sh ${PROJECT_SOURCE_DIR})
