# write_parts(output): a source of C with the files that a report page consists of, as
# src/output/page_parts.h declares them. Those of dygraphs come from DAEDALUS_DYGRAPHS_DIR, which
# is found where Debian's package libjs-dygraphs or npm puts them; without them the page has a
# still picture.
find_path(DAEDALUS_DYGRAPHS_DIR dygraph.min.js
          PATHS /usr/share/javascript/dygraphs /usr/local/share/javascript/dygraphs
                /usr/lib/node_modules/dygraphs/dist /usr/local/lib/node_modules/dygraphs/dist
          NO_DEFAULT_PATH DOC "the folder of dygraph.min.js")
find_file(DAEDALUS_DYGRAPHS_LICENCE NAMES LICENSE.txt LICENSE copyright
          PATHS "${DAEDALUS_DYGRAPHS_DIR}" "${DAEDALUS_DYGRAPHS_DIR}/.."
                /usr/share/doc/libjs-dygraphs
          NO_DEFAULT_PATH DOC "the licence of dygraphs")

function(write_parts output)
    set(style "${PROJECT_SOURCE_DIR}/src/output/page.css")
    set(script "${PROJECT_SOURCE_DIR}/src/output/page.js")
    set(plot "${DAEDALUS_DYGRAPHS_DIR}/dygraph.min.js")
    set(plot_licence "${DAEDALUS_DYGRAPHS_LICENCE}")
    set(there TRUE)
    if(NOT EXISTS "${plot}" OR NOT EXISTS "${plot_licence}")
        set(there FALSE)
        message(STATUS "dygraphs is not there (DAEDALUS_DYGRAPHS_DIR, "
                       "Debian: libjs-dygraphs): reports have a still picture")
    endif()
    set(text "#include \"output/page_parts.h\"\n")
    foreach(part style script plot plot_licence)
        set(bytes "0")
        set(length 0)
        set(hash "0")
        if(there OR NOT part MATCHES "plot")
            set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY
                         CMAKE_CONFIGURE_DEPENDS "${${part}}")
            file(READ "${${part}}" content)
            # A page that needs no other file must not name one.
            string(REGEX REPLACE "\n//# sourceMappingURL=[^\n]*" "\n" content "${content}")
            string(SHA256 hash "${content}")
            string(HEX "${content}" bytes)
            string(LENGTH "${bytes}" length)
            math(EXPR length "${length} / 2")
            string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
            string(REGEX REPLACE "(..)" "0x\\1," hash "${hash}")
            string(REGEX REPLACE "(................................................................................)"
                   "\\1\n" bytes "${bytes}")
        endif()
        string(APPEND text "\nstatic const unsigned char ${part}_bytes[] = {\n${bytes}\n};\n"
               "const dae_part dae_part_${part} = {\n    ${part}_bytes, ${length},\n    { ${hash} }\n};\n")
    endforeach()
    file(CONFIGURE OUTPUT "${output}" CONTENT "@text@" @ONLY)
endfunction()
