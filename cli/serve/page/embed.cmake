# SPDX-License-Identifier: MIT
# cmake -D OUT=FILE.c -P embed.cmake: the files of this folder as C
# (serve/page_files.h).
set(names page.css page.js icon.svg)
set(types text/css "text/javascript" image/svg+xml)

set(arrays "")
set(rows "")
foreach(name type IN ZIP_LISTS names types)
  file(READ ${CMAKE_CURRENT_LIST_DIR}/${name} bytes HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" bytes
    "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(MAKE_C_IDENTIFIER ${name} array)
  string(APPEND arrays
    "static const unsigned char ${array}[] = {\n${bytes}\n};\n\n")
  string(APPEND rows
    "    {\"${name}\", \"${type}\", ${array}, sizeof ${array}},\n")
endforeach()
file(WRITE ${OUT} "#include \"serve/page_files.h\"\n\n${arrays}\
const struct page_file page_files[] = {\n${rows}    {NULL, NULL, NULL, 0},\n};\n")
