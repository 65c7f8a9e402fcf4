# SPDX-License-Identifier: MIT
# Run by cpack over the files that go into packages: what Debian wants of each
# of them.  An archive is left as it is.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()

file(READ ${CPACK_XD_LICENSE} license)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(usr ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr)
  set(doc ${usr}/share/doc/${package})

  file(REMOVE ${doc}/LICENSE)
  file(WRITE ${doc}/copyright "${license}")
  file(WRITE ${doc}/changelog.Debian "${CPACK_XD_CHANGES}")
  file(GLOB pages ${usr}/share/man/man?/*)
  execute_process(COMMAND gzip -9nf ${doc}/changelog.Debian ${pages}
    COMMAND_ERROR_IS_FATAL ANY)
endforeach()

set(usr ${CPACK_TEMPORARY_DIRECTORY}/command/usr)
file(RENAME ${usr}/share/zsh/site-functions
  ${usr}/share/zsh/vendor-completions)
