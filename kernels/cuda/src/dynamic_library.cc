#include "dynamic_library.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>

#include <cstdlib>
#include <sstream>

#include "error.h"

namespace millrace {

namespace {

// candidates are the files of this name below a folder.
std::vector<std::string> candidates(const std::string& folder, const std::string& name) {
  std::vector<std::string> files;
  for (const char* below : {"/", "/lib/", "/*/lib/"}) {
    glob_t found;
    if (glob((folder + below + name).c_str(), 0, nullptr, &found) == 0) {
      files.insert(files.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
    }
    globfree(&found);
  }
  return files;
}

std::vector<std::string> folders() {
  std::vector<std::string> all;
  const char* text = std::getenv("MILLRACE_CUDA_LIBRARIES");
  std::istringstream list(text ? text : "");
  for (std::string folder; std::getline(list, folder, ':');) {
    if (!folder.empty()) all.push_back(folder);
  }
  return all;
}

}  // namespace

DynamicLibrary::DynamicLibrary(const std::vector<std::string>& names, const char* what_for) {
  std::string tried;
  // Symbols are global: cuDNN's parts find those of cuBLAS, wherever it was opened from.
  auto open = [&](const std::string& file) {
    handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!handle_) tried += std::string("\n  ") + dlerror();
    return handle_ != nullptr;
  };
  for (const std::string& name : names) {
    if (!handle_) open(name);
  }
  for (const std::string& folder : folders()) {
    for (const std::string& name : names) {
      if (handle_) break;
      const std::vector<std::string> files = candidates(folder, name);
      if (files.empty()) tried += "\n  " + folder + ": no " + name + " in it, its lib or the lib of a folder in it";
      for (const std::string& file : files) {
        if (!handle_) open(file);
      }
    }
  }
  if (!handle_) {
    throw Error(
        Status::unavailable,
        std::string(what_for) + " needs " + names.front() +
            ", which cannot be opened; MILLRACE_CUDA_LIBRARIES may name the folder that has it. Tried:" + tried);
  }
  link_map* map = nullptr;
  path_ = dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0 && map ? map->l_name : names.front();
}

void* DynamicLibrary::symbol(const char* name) const {
  void* found = dlsym(handle_, name);
  if (!found) throw Error(Status::unavailable, path_ + " has no function " + name + ": another version is needed");
  return found;
}

}  // namespace millrace
