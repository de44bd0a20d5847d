# bench/: Daedalus and its peers in one program. IDA comes from scripts/build-ida, RADAU5 from
# scripts/build-radau5.
if(NOT EXISTS "${DAEDALUS_IDA_DIR}/include/ida/ida.h")
    message(FATAL_ERROR "DAEDALUS_BENCH needs DAEDALUS_IDA_DIR; run scripts/build-ida")
endif()
if(NOT EXISTS "${DAEDALUS_RADAU5_DIR}/libradau5.a")
    message(FATAL_ERROR "DAEDALUS_BENCH needs DAEDALUS_RADAU5_DIR; run scripts/build-radau5")
endif()
set(peer_libraries)
foreach(name ida sunlinsolklu)
    find_library(IDA_${name} sundials_${name} PATHS "${DAEDALUS_IDA_DIR}/lib"
                 NO_DEFAULT_PATH REQUIRED)
    list(APPEND peer_libraries ${IDA_${name}})
endforeach()
list(APPEND peer_libraries "${DAEDALUS_RADAU5_DIR}/libradau5.a")
find_library(LIB_mvec mvec) # gfortran's vectors of powers, where there is such a library
if(LIB_mvec)
    list(APPEND peer_libraries ${LIB_mvec})
endif()
add_executable(bench bench/bench.c bench/compare.c bench/peer_ida.c bench/peer_radau5.c)
target_include_directories(bench SYSTEM PRIVATE "${DAEDALUS_IDA_DIR}/include")
target_link_libraries(bench PRIVATE inside ${peer_libraries} ${daedalus_needs})
