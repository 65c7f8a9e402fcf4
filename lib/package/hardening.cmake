# SPDX-License-Identifier: MIT
# What makes a defect harder to use: the compiler's and the linker's part of it,
# where they have it, and unless the flags of whoever builds a package decide it
# (CFLAGS, LDFLAGS).
include(CheckCCompilerFlag)
include(CheckLinkerFlag)
set(optimized "$<CONFIG:Release,RelWithDebInfo,MinSizeRel>")

if(NOT CMAKE_C_FLAGS MATCHES "-f(no-)?stack-protector")
  check_c_compiler_flag(-fstack-protector-strong XD_HAS_STACK_PROTECTOR)
  if(XD_HAS_STACK_PROTECTOR)
    target_compile_options(xd_flags INTERFACE -fstack-protector-strong)
  endif()
endif()
if(NOT CMAKE_C_FLAGS MATCHES "_FORTIFY_SOURCE")
  target_compile_options(xd_flags INTERFACE
    $<${optimized}:-U_FORTIFY_SOURCE> $<${optimized}:-D_FORTIFY_SOURCE=2>)
endif()

set(words relro now)
set(opposites norelro lazy)
foreach(word opposite IN ZIP_LISTS words opposites)
  if(NOT "${CMAKE_EXE_LINKER_FLAGS} ${CMAKE_SHARED_LINKER_FLAGS}" MATCHES
      "-z,?(${word}|${opposite})")
    check_linker_flag(C LINKER:-z,${word} XD_HAS_Z_${word})
    if(XD_HAS_Z_${word})
      target_link_options(xd_flags INTERFACE LINKER:-z,${word})
    endif()
  endif()
endforeach()

# The same bytes wherever the sources and the build lie.  Debug builds keep the
# paths, for debuggers and for reports of coverage.
check_c_compiler_flag(-ffile-prefix-map=a=b XD_HAS_PREFIX_MAP)
if(XD_HAS_PREFIX_MAP)
  target_compile_options(xd_flags INTERFACE
    $<$<NOT:$<CONFIG:Debug>>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.>
    $<$<NOT:$<CONFIG:Debug>>:-ffile-prefix-map=${CMAKE_BINARY_DIR}=build>)
endif()
