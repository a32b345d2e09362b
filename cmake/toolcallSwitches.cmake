# Stops where a target defines a TOOLCALL_... that toolcall.h does not know:
# the compiler would ignore a misspelt switch in silence. Looks at all targets
# of the project when its last CMakeLists.txt has been read (CMake 3.19; with
# an older one call toolcall_check_switches(DIRECTORY) yourself, at the end).

# toolcall_check_definitions(WHERE DEFINITION...)
function(toolcall_check_definitions where)
    foreach(definition IN LISTS ARGN)
        string(REGEX REPLACE "^-D|[=(].*" "" name "${definition}")
        if(name MATCHES "^TOOLCALL_" AND NOT name IN_LIST toolcall_switches)
            string(REPLACE ";" " " known "${toolcall_switches}")
            message(FATAL_ERROR "toolcall.h knows no ${name}, which ${where} "
                "defines. Known are: ${known}")
        endif()
    endforeach()
endfunction()

function(toolcall_check_switches directory)
    get_property(header GLOBAL PROPERTY toolcall_header)
    file(STRINGS ${header} lines REGEX "^(# *(el)?if|.*defined).*TOOLCALL_")
    string(REGEX MATCHALL "TOOLCALL_[A-Z0-9_]+" toolcall_switches "${lines}")
    list(REMOVE_DUPLICATES toolcall_switches)
    set(kinds COMPILE_DEFINITIONS INTERFACE_COMPILE_DEFINITIONS
        COMPILE_OPTIONS INTERFACE_COMPILE_OPTIONS)
    get_property(targets DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
        foreach(kind IN LISTS kinds)
            get_property(found TARGET ${target} PROPERTY ${kind})
            toolcall_check_definitions(${target} ${found})
        endforeach()
    endforeach()
    foreach(kind COMPILE_DEFINITIONS COMPILE_OPTIONS)
        get_property(found DIRECTORY ${directory} PROPERTY ${kind})
        toolcall_check_definitions(${directory} ${found})
    endforeach()
    separate_arguments(found UNIX_COMMAND "${CMAKE_C_FLAGS} ${CMAKE_CXX_FLAGS}")
    list(FILTER found INCLUDE REGEX "^-D")
    toolcall_check_definitions("CMAKE_C_FLAGS" ${found})
    get_property(below DIRECTORY ${directory} PROPERTY SUBDIRECTORIES)
    foreach(subdirectory IN LISTS below)
        toolcall_check_switches(${subdirectory})
    endforeach()
endfunction()

if(NOT CMAKE_VERSION VERSION_LESS 3.19)
    cmake_language(EVAL CODE "cmake_language(DEFER DIRECTORY
        [[${CMAKE_SOURCE_DIR}]] CALL toolcall_check_switches
        [[${CMAKE_SOURCE_DIR}]])")
endif()
