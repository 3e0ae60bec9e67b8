file(GLOB tutorials CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/tutorials/*.md)
foreach(tutorial ${tutorials})
  get_filename_component(name ${tutorial} NAME_WE)
  add_test(NAME tutorial-${name} COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/tutorials/run_tutorial.sh
    ${tutorial} $<TARGET_FILE_DIR:amsp> ${PROJECT_SOURCE_DIR})
  set_tests_properties(tutorial-${name} PROPERTIES TIMEOUT 300 LABELS programs)
endforeach()
