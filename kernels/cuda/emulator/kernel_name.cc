#include "kernel_name.h"

#include <dlfcn.h>
#include <link.h>

#include <unistd.h>

#include <cstdio>

namespace emulator {

std::string kernel_name(const void* kernel) {
  char text[4096];
  std::snprintf(text, sizeof text, "kernel at %p", kernel);
  std::string name = text;
  Dl_info info;
  link_map* object = nullptr;
  if (!dladdr1(kernel, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) || !object) return name;
  const char* path = object->l_name[0] ? object->l_name : "/proc/self/exe";
  std::string file = path;
  if (file == "/proc/self/exe") {
    ssize_t n = readlink(path, text, sizeof text - 1);
    if (n <= 0) return name;
    file.assign(text, static_cast<size_t>(n));
  }
  const size_t offset = reinterpret_cast<size_t>(kernel) - object->l_addr;
  std::snprintf(text, sizeof text, "addr2line -f -C -e '%s' %zx 2>/dev/null", file.c_str(), offset);
  FILE* pipe = popen(text, "r");
  if (!pipe) return name;
  if (std::fgets(text, sizeof text, pipe) && text[0] != '?') {
    name = text;
    name.erase(name.find_last_not_of('\n') + 1);
  }
  pclose(pipe);
  return name;
}

}  // namespace emulator
