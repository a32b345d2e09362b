# toolcall_shapes(TARGET FILE.json [OPTION...]): FILE.h, made of the definitions of
# tools in FILE.json, for #include "FILE.h" in the sources of TARGET. It is made
# anew when they change. OPTION is one of build/shapes, such as --text 40.
#
# The program that makes it runs here, not on the board: it is built with the
# compiler of this machine, TOOLCALL_HOST_CC (cc). A definition that no shape can
# say stops the build, with the reason.

find_program(TOOLCALL_HOST_CC NAMES cc gcc clang DOC
    "Compiler of programs that run while building")

function(toolcall_shapes target json)
    get_property(toolcall GLOBAL PROPERTY toolcall_header)
    get_filename_component(include ${toolcall} DIRECTORY)
    find_file(TOOLCALL_SHAPES_SOURCE shapes.c NO_DEFAULT_PATH
        NO_CMAKE_FIND_ROOT_PATH PATHS ${include}/tools ${include}/toolcall/tools)
    if(NOT TOOLCALL_HOST_CC OR NOT TOOLCALL_SHAPES_SOURCE)
        message(FATAL_ERROR "toolcall_shapes needs a compiler of this machine, "
            "TOOLCALL_HOST_CC, and tools/shapes.c, TOOLCALL_SHAPES_SOURCE")
    endif()
    get_filename_component(json ${json} ABSOLUTE)
    get_filename_component(name ${json} NAME_WE)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.shapes)
    set(shapes ${folder}/shapes)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${shapes} VERBATIM
        COMMAND ${TOOLCALL_HOST_CC} -O1 -I${include} ${TOOLCALL_SHAPES_SOURCE}
            -o ${shapes} -lm
        DEPENDS ${TOOLCALL_SHAPES_SOURCE} ${toolcall})
    add_custom_command(OUTPUT ${folder}/${name}.h VERBATIM
        COMMAND ${shapes} ${ARGN} -o ${folder}/${name}.h ${json}
        DEPENDS ${json} ${shapes})
    target_sources(${target} PRIVATE ${folder}/${name}.h)
    target_include_directories(${target} PRIVATE ${folder})
endfunction()
