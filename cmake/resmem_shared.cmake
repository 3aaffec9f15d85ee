# libresmem.so and its companions, from the objects of the static libraries.  What include/resmem declares
# has the symbol version RESMEM_<minor version>; what only the companions use of each other has
# RESMEM_PRIVATE_<version>, so that a program that takes it is found out by its next start; all else is hidden.
if(NOT RESMEM_BUILD_SHARED)
  return()
endif()
find_program(RESMEM_CTAGS ctags-universal REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(libraries resmem resmem_report resmem_data resmem_models resmem_lm)
file(GLOB_RECURSE public_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/resmem/*.h)

foreach(library ${libraries})
  set(others ${libraries})
  list(REMOVE_ITEM others ${library})
  list(TRANSFORM others REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE users)
  set(map ${PROJECT_BINARY_DIR}/shared/${library}.map)
  add_custom_command(OUTPUT ${map}
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/public_names.py
            --ctags ${RESMEM_CTAGS} --headers ${PROJECT_SOURCE_DIR}/include/resmem
            --library $<TARGET_FILE:${library}> --users ${users}
            --version ${PROJECT_VERSION} --output ${map}
    DEPENDS ${libraries} ${public_headers} ${PROJECT_SOURCE_DIR}/cmake/public_names.py
    VERBATIM)
  add_library(${library}_shared SHARED $<TARGET_OBJECTS:${library}> ${map})
  get_target_property(links ${library} LINK_LIBRARIES)
  list(TRANSFORM links REPLACE "^(resmem|resmem_report|resmem_data|resmem_models)$" "\\1_shared")
  # What a static library leaves to its users; --as-needed drops the rest.
  target_link_libraries(${library}_shared PUBLIC ${links} PkgConfig::HWY PkgConfig::XXHASH)
  target_link_options(${library}_shared PRIVATE LINKER:--version-script=${map} LINKER:-z,defs
                                                LINKER:--as-needed LINKER:--gc-sections)
  set_target_properties(${library}_shared PROPERTIES
    OUTPUT_NAME ${library} LINKER_LANGUAGE CXX LINK_DEPENDS ${map}
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/shared)
  install(TARGETS ${library}_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endforeach()
