# Distributions ship mbedTLS 2.28 without a CMake package. This finds it, and
# 3.x, and makes the targets that 3.x has: MbedTLS::mbedtls, mbedx509, mbedcrypto.
find_path(MbedTLS_INCLUDE_DIR mbedtls/ssl.h)
find_library(MbedTLS_mbedtls_LIBRARY mbedtls)
find_library(MbedTLS_mbedx509_LIBRARY mbedx509)
find_library(MbedTLS_mbedcrypto_LIBRARY mbedcrypto)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MbedTLS REQUIRED_VARS MbedTLS_INCLUDE_DIR
    MbedTLS_mbedtls_LIBRARY MbedTLS_mbedx509_LIBRARY
    MbedTLS_mbedcrypto_LIBRARY)
if(MbedTLS_FOUND)
    foreach(name mbedtls mbedx509 mbedcrypto)
        if(NOT TARGET MbedTLS::${name})
            add_library(MbedTLS::${name} UNKNOWN IMPORTED)
            set_target_properties(MbedTLS::${name} PROPERTIES
                IMPORTED_LOCATION ${MbedTLS_${name}_LIBRARY}
                INTERFACE_INCLUDE_DIRECTORIES ${MbedTLS_INCLUDE_DIR})
        endif()
    endforeach()
endif()
mark_as_advanced(MbedTLS_INCLUDE_DIR MbedTLS_mbedtls_LIBRARY
    MbedTLS_mbedx509_LIBRARY MbedTLS_mbedcrypto_LIBRARY)
