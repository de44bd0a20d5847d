# sources_of(variable pattern...): the files that match; a folder that has none yet is no
# reason to fail, a line of C that declares one type stands in.
function(sources_of variable)
    file(GLOB found CONFIGURE_DEPENDS ${ARGN})
    if(NOT found)
        set(found "${CMAKE_BINARY_DIR}/nothing_yet.c")
        file(CONFIGURE OUTPUT "${found}" CONTENT "typedef int nothing_yet;\n")
    endif()
    set(${variable} ${found} PARENT_SCOPE)
endfunction()
