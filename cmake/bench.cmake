# bench/: Daedalus and IDA in one program. IDA comes from scripts/build-ida.
if(NOT EXISTS "${DAEDALUS_IDA_DIR}/include/ida/ida.h")
    message(FATAL_ERROR "DAEDALUS_BENCH needs DAEDALUS_IDA_DIR; run scripts/build-ida")
endif()
set(ida_libraries)
foreach(name ida sunlinsolklu)
    find_library(IDA_${name} sundials_${name} PATHS "${DAEDALUS_IDA_DIR}/lib"
                 NO_DEFAULT_PATH REQUIRED)
    list(APPEND ida_libraries ${IDA_${name}})
endforeach()
add_executable(bench bench/bench.c bench/peer_ida.c)
target_include_directories(bench SYSTEM PRIVATE "${DAEDALUS_IDA_DIR}/include")
target_link_libraries(bench PRIVATE inside ${ida_libraries} ${daedalus_needs})
