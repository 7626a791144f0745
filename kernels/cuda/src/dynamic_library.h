// Libraries that are opened at run time, so that this one loads on a machine without
// them and says which is missing when it is needed.
//
// A library is looked for by its name as the system's loader does (what is loaded
// already, LD_LIBRARY_PATH, /etc/ld.so.conf), then below each folder of
// MILLRACE_CUDA_LIBRARIES, separated by colons: in the folder itself, in its lib, and in
// the lib of each folder in it. So it may name the folder `nvidia` of a Python's
// packages.
#pragma once

#include <string>
#include <vector>

namespace millrace {

class DynamicLibrary {
 public:
  // Opens the first of names ("libcublasLt.so.13") that is found, or throws
  // Status::unavailable with what for says it is needed for, and all that was tried.
  DynamicLibrary(const std::vector<std::string>& names, const char* what_for);
  // It stays open: CUDA's libraries have threads and handlers that outlive their use.
  ~DynamicLibrary() = default;
  DynamicLibrary(const DynamicLibrary&) = delete;
  DynamicLibrary& operator=(const DynamicLibrary&) = delete;

  // function sets f to the function of this name, or throws Status::unavailable.
  template <class Function>
  void function(Function*& f, const char* name) const {
    f = reinterpret_cast<Function*>(symbol(name));
  }

  const std::string& path() const { return path_; }  // of the file

 private:
  void* symbol(const char* name) const;

  void* handle_ = nullptr;
  std::string path_;
};

}  // namespace millrace
