# cmake --install gives find_package(resmem) and pkg-config; tests/consumer proves both.
include(CMakePackageConfigHelpers)

install(TARGETS resmem EXPORT resmem_targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/resmem DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT resmem_targets NAMESPACE resmem:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/resmem)
configure_package_config_file(cmake/resmemConfig.cmake.in resmemConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/resmem)
write_basic_package_version_file(resmemConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/resmemConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/resmemConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/resmem)
configure_file(cmake/resmem.pc.in resmem.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/resmem.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
