# jsmn is one header without a CMake package. This finds it and makes the target
# Jsmn::jsmn, with which jsmn makes the tokens of toolcall.h.
find_path(Jsmn_INCLUDE_DIR jsmn.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Jsmn REQUIRED_VARS Jsmn_INCLUDE_DIR)
if(Jsmn_FOUND AND NOT TARGET Jsmn::jsmn)
    add_library(Jsmn::jsmn INTERFACE IMPORTED)
    set_target_properties(Jsmn::jsmn PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES ${Jsmn_INCLUDE_DIR})
endif()
mark_as_advanced(Jsmn_INCLUDE_DIR)
