include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING
        PATTERN "*.h")
install(TARGETS daedalus_shared daedalus_static EXPORT daedalusTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET daedalus)
    install(TARGETS daedalus RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# find_package(daedalus); target_link_libraries(mine Daedalus::daedalus), or Daedalus::static
set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/daedalus")
install(EXPORT daedalusTargets NAMESPACE Daedalus:: DESTINATION ${package_folder})
configure_package_config_file(cmake/daedalusConfig.cmake.in
    "${CMAKE_BINARY_DIR}/daedalusConfig.cmake" INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file("${CMAKE_BINARY_DIR}/daedalusConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/daedalusConfig.cmake"
    "${CMAKE_BINARY_DIR}/daedalusConfigVersion.cmake" DESTINATION ${package_folder})

set(pc_private)
foreach(library ${daedalus_needs})
    get_filename_component(name "${library}" NAME_WE)
    string(REGEX REPLACE "^(lib|-l)" "" name "${name}")
    list(APPEND pc_private "-l${name}")
endforeach()
list(REMOVE_DUPLICATES pc_private)
list(JOIN pc_private " " pc_private)
# The prefix is where this file is found, so that `cmake --install --prefix`, DESTDIR and a folder
# that is moved later need no other file. Folders that were given as absolute paths stay so.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    set(pc_prefix "${CMAKE_INSTALL_PREFIX}")
else()
    file(RELATIVE_PATH up "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
    string(REGEX REPLACE "/$" "" up "${up}")
    set(pc_prefix "\${pcfiledir}/${up}")
endif()
foreach(folder libdir includedir)
    string(TOUPPER "CMAKE_INSTALL_${folder}" variable)
    if(IS_ABSOLUTE "${${variable}}")
        set(pc_${folder} "${${variable}}")
    else()
        set(pc_${folder} "\${prefix}/${${variable}}")
    endif()
endforeach()
configure_file(cmake/daedalus.pc.in "${CMAKE_BINARY_DIR}/daedalus.pc" @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/daedalus.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
