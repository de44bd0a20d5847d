# write_parts(output): a source of C with the files that a report page consists of, as
# src/output/page_parts.h declares them. Those of uPlot come from DAEDALUS_UPLOT_DIR, where
# scripts/fetch-uplot puts them; without them the page has a still picture.
set(DAEDALUS_UPLOT_DIR "${PROJECT_SOURCE_DIR}/build/uplot" CACHE PATH
    "where scripts/fetch-uplot put uPlot")

function(write_parts output)
    set(style "${PROJECT_SOURCE_DIR}/src/output/page.css")
    set(script "${PROJECT_SOURCE_DIR}/src/output/page.js")
    set(plot_style "${DAEDALUS_UPLOT_DIR}/uPlot.min.css")
    set(plot "${DAEDALUS_UPLOT_DIR}/uPlot.iife.min.js")
    set(plot_licence "${DAEDALUS_UPLOT_DIR}/LICENSE")
    set(there TRUE)
    foreach(part plot_style plot plot_licence)
        if(NOT EXISTS "${${part}}")
            set(there FALSE)
        endif()
    endforeach()
    if(NOT there)
        message(STATUS "uPlot is not in ${DAEDALUS_UPLOT_DIR}: reports have a still picture")
    endif()
    set(text "#include \"output/page_parts.h\"\n")
    foreach(part style script plot_style plot plot_licence)
        set(bytes "0")
        set(length 0)
        set(hash "0")
        if(there OR NOT part MATCHES "plot")
            set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY
                         CMAKE_CONFIGURE_DEPENDS "${${part}}")
            file(READ "${${part}}" bytes HEX)
            file(SHA256 "${${part}}" hash)
            file(SIZE "${${part}}" length)
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
