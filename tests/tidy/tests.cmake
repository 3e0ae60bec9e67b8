add_test(NAME tidy COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/tidy/tidy_test.sh ${PROJECT_SOURCE_DIR})
set_tests_properties(tidy PROPERTIES TIMEOUT 300)
# Every header compiles by itself: one file that includes each is enough to build, not to run.
