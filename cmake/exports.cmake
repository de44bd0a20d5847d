# write_exports(file): a linker version script with the functions that the headers in
# include/ declare: lines that begin with a type and hold "dae_name(".
function(write_exports map)
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/*.h")
    set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
                 ${headers})
    set(names)
    foreach(header ${headers})
        file(STRINGS "${header}" lines REGEX "^[a-z][a-z0-9_ *]*dae_[a-z0-9_]+\\(")
        foreach(line ${lines})
            if(NOT line MATCHES "^(static|typedef|return)[ ]"
               AND line MATCHES "(dae_[a-z0-9_]+)\\(")
                list(APPEND names "${CMAKE_MATCH_1}")
            endif()
        endforeach()
    endforeach()
    list(REMOVE_DUPLICATES names)
    list(SORT names)
    list(JOIN names ";\n        " text)
    file(CONFIGURE OUTPUT "${map}" CONTENT
         "{\n    global:\n        @text@;\n    local:\n        *;\n};\n" @ONLY)
endfunction()
