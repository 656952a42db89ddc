# find_package(tarry): tarry::tarry is the shared library; tarry::static the
# other one, if pkg-config finds what it needs in turn.
include("${CMAKE_CURRENT_LIST_DIR}/tarry-targets.cmake")
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND AND NOT TARGET tarry::static)
    pkg_check_modules(tarry_needs QUIET IMPORTED_TARGET jansson)
endif()
if(TARGET PkgConfig::tarry_needs AND NOT TARGET tarry::static)
    get_target_property(tarry_include tarry::tarry
                        INTERFACE_INCLUDE_DIRECTORIES)
    add_library(tarry::static STATIC IMPORTED)
    set_target_properties(tarry::static PROPERTIES
        IMPORTED_LOCATION "${CMAKE_CURRENT_LIST_DIR}/../../libtarry.a"
        INTERFACE_INCLUDE_DIRECTORIES "${tarry_include}"
        INTERFACE_LINK_LIBRARIES "PkgConfig::tarry_needs;-fopenmp;m")
endif()
