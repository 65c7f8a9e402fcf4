# SPDX-License-Identifier: MIT
# find_package(xdownload)                     xdownload::xdownload, shared if it
#                                             was built
# find_package(xdownload COMPONENTS static)   also xdownload::static
include(CMakeFindDependencyMacro)
include(${CMAKE_CURRENT_LIST_DIR}/xdownload-shared.cmake
  OPTIONAL RESULT_VARIABLE xdownload_shared_FOUND)
if("static" IN_LIST xdownload_FIND_COMPONENTS OR NOT xdownload_shared_FOUND)
  find_dependency(Threads)
  find_dependency(CURL 7.81)
  find_dependency(LibXml2 2.9.13)
  find_dependency(OpenSSL 3.0 COMPONENTS Crypto)
  include(${CMAKE_CURRENT_LIST_DIR}/xdownload-static.cmake)
  set(xdownload_static_FOUND TRUE)
  if(NOT TARGET xdownload::xdownload)
    add_library(xdownload::xdownload ALIAS xdownload::static)
  endif()
endif()
foreach(component IN LISTS xdownload_FIND_COMPONENTS)
  if(xdownload_FIND_REQUIRED_${component} AND NOT xdownload_${component}_FOUND)
    set(xdownload_FOUND FALSE)
    set(xdownload_NOT_FOUND_MESSAGE "xdownload has no component ${component}")
  endif()
endforeach()
