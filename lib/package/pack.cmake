# SPDX-License-Identifier: MIT
# cpack makes an archive and Debian packages of what is built:
#
#     cmake --preset package && cmake --build build/package
#     cd build/package && cpack
#
# A package is a component of the installation: the command, the library, and
# what programs are built with.
set(XD_PACKAGE_RELEASE 1 CACHE STRING "which packages of this version these are")
set(XD_PACKAGER "xdownload authors <xdownload@localhost>" CACHE STRING
  "who makes these packages, NAME <ADDRESS>")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT command)

set(components command development)
set(library libxdownload)
if(TARGET xdownload)
  get_target_property(number xdownload SOVERSION)
  string(APPEND library ${number})
  list(PREPEND components library)
endif()

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME xdownload)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT ${XD_PACKAGER})
set(CPACK_COMPONENTS_ALL ${components})
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE
  OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF) # everything, to be unpacked anywhere

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${XD_PACKAGE_RELEASE})
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")

# xd_package(COMPONENT NAME SECTION SUMMARY DEPENDS)
macro(xd_package component name section summary depends)
  set(CPACK_DEBIAN_${component}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${component}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${component}_PACKAGE_DEPENDS "${depends}")
  set(CPACK_DEBIAN_${component}_DESCRIPTION "${summary}
The file may lie on any number of servers, in copies or in parts.  What comes
is compared with the hashes that are known of it; servers that are slow, fail
or deliver wrong bytes are replaced by others.")
endmacro()
set(needs_library "")
if(TARGET xdownload)
  set(needs_library "${library} (= ${PROJECT_VERSION}-${XD_PACKAGE_RELEASE}), ")
endif()
# The command is linked with the static library (cli/CMakeLists.txt).
xd_package(COMMAND xdownload web
  "fetch a file from all the servers that have it at once" "")
xd_package(LIBRARY ${library} libs
  "fetch a file from several servers at once (shared library)" "")
xd_package(DEVELOPMENT libxdownload-dev libdevel
  "fetch a file from several servers at once (development files)"
  "${needs_library}libcurl4-openssl-dev | libcurl4-gnutls-dev, libxml2-dev, \
libssl-dev, libisal-dev, pkg-config")
# For `trace`; and gnuplot for `bench --plot`, which few use.
set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS python3)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS "gnuplot, mpv")

# dpkg updates ld.so's cache by a trigger.  Scripts that are named, and not
# there, keep cpack from making its own.
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA
  ${CMAKE_CURRENT_LIST_DIR}/triggers none/postinst none/postrm)

# What Debian wants of the files in a package.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
set(ENV{SOURCE_DATE_EPOCH} ${XD_RELEASED})
string(TIMESTAMP XD_CHANGED "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_BINARY_DIR}/pack_config.cmake)
configure_file(${CMAKE_CURRENT_LIST_DIR}/pack_config.cmake.in
  ${CPACK_PROJECT_CONFIG_FILE} @ONLY)
include(CPack)
