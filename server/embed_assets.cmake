# cmake -DOUTPUT=assets.cc -DROOT=server -P embed_assets.cmake: files as a table of bytes.
file(GLOB files RELATIVE ${ROOT} ${ROOT}/openapi.json ${ROOT}/page/*)
list(FILTER files EXCLUDE REGEX "\\.md$|/src$")
list(SORT files)
set(arrays "")
set(table "")
set(number 0)
foreach(name ${files})
  if(IS_DIRECTORY ${ROOT}/${name})
    continue()
  endif()
  file(READ ${ROOT}/${name} hex HEX)
  file(SHA256 ${ROOT}/${name} digest)
  string(LENGTH "${hex}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND arrays "constexpr unsigned char kBytes${number}[] = {${bytes}0};\n")
  string(APPEND table "      {\"${name}\", {reinterpret_cast<const char*>(kBytes${number}), ${size}}, \"${digest}\"},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT}.new "// Made by embed_assets.cmake.
#include \"service/assets.h\"

namespace resmem::serve {
namespace {
${arrays}}  // namespace

std::span<const Asset> Assets() {
  static const Asset kAssets[] = {
${table}  };
  return kAssets;
}

}  // namespace resmem::serve
")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
