# Every tests/*/test_*.c is a program of cmocka cases, every tests/*/test_*.sh a script; both
# find the program and the source tree in the environment.
find_path(CMOCKA_INCLUDE cmocka.h REQUIRED)
find_library(CMOCKA_LIBRARY cmocka REQUIRED)

set(test_environment "DAEDALUS_BUILD=${CMAKE_BINARY_DIR}"
    "DAEDALUS_SOURCE=${PROJECT_SOURCE_DIR}" "DAEDALUS_PROGRAM=${CMAKE_BINARY_DIR}/daedalus"
    "OPENBLAS_NUM_THREADS=1")

file(GLOB programs CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/*/test_*.c")
# tests/*.c are helpers that all test programs share
file(GLOB helpers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/*.c")
if(helpers)
    add_library(test_helpers STATIC ${helpers})
    target_include_directories(test_helpers SYSTEM PRIVATE ${CMOCKA_INCLUDE})
    target_link_libraries(test_helpers PUBLIC inside)
endif()
foreach(source ${programs})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
    target_include_directories(${name} SYSTEM PRIVATE ${CMOCKA_INCLUDE})
    if(helpers)
        target_link_libraries(${name} PRIVATE test_helpers)
    endif()
    target_link_libraries(${name} PRIVATE inside ${CMOCKA_LIBRARY})
    # optimizing the whole library anew for each test would take longer than the tests
    set_target_properties(${name} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF
        RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
    if(CMAKE_INTERPROCEDURAL_OPTIMIZATION)
        target_link_options(${name} PRIVATE -fno-lto)
    endif()
    add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "${test_environment}")
endforeach()

# Preloaded by test_allocations.sh. It speaks of glibc's own names, so its symbols stay as they are.
add_library(fail_malloc MODULE "${PROJECT_SOURCE_DIR}/tests/shims/fail_malloc.c")
target_link_libraries(fail_malloc PRIVATE ${CMAKE_DL_LIBS})
set_target_properties(fail_malloc PROPERTIES PREFIX "" INTERPROCEDURAL_OPTIMIZATION OFF
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
target_compile_options(fail_malloc PRIVATE -fno-sanitize=all -fno-builtin)
target_link_options(fail_malloc PRIVATE -fno-sanitize=all)

file(GLOB scripts CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/*/test_*.sh")
foreach(source ${scripts})
    get_filename_component(name ${source} NAME_WE)
    add_test(NAME ${name}_sh COMMAND bash "${source}"
             WORKING_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
    set_tests_properties(${name}_sh PROPERTIES ENVIRONMENT "${test_environment}")
endforeach()
file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
