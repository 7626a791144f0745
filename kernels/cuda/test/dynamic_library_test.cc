#include "dynamic_library.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "check.h"

using namespace millrace;
using namespace millrace::test;

namespace {

// Folder is an empty folder, named to the library by the environment.
struct Folder {
  Folder() {
    char name[] = "/tmp/millrace-test-XXXXXX";
    path = mkdtemp(name);
    setenv("MILLRACE_CUDA_LIBRARIES", ("/nonexistent:" + path).c_str(), 1);
  }
  ~Folder() {
    unsetenv("MILLRACE_CUDA_LIBRARIES");
    for (const char* part : {"/lib/libmillrace_test.so.1", "/lib"}) std::remove((path + part).c_str());
    rmdir(path.c_str());
  }
  std::string path;
};

}  // namespace

TEST(library_of_the_system) {
  DynamicLibrary math({"libmillrace_absent.so.1", "libm.so.6"}, "the test");
  double (*cosine)(double) = nullptr;
  math.function(cosine, "cos");
  expect(cosine(0) == 1, "cos(0)");
  expect(math.path().find("libm.so.6") != std::string::npos, "path is " + math.path());
  expect_error(Status::unavailable, {"libm.so.6 has no function millrace_absent"},
               [&] { math.function(cosine, "millrace_absent"); });
}

TEST(library_that_is_nowhere) {
  Folder folder;
  expect_error(
      Status::unavailable,
      {"multiplying matrices needs libmillrace_absent.so.13", "MILLRACE_CUDA_LIBRARIES",
       "Tried:", "libmillrace_absent.so.12: cannot open shared object file",
       "/nonexistent: no libmillrace_absent.so.13", folder.path + ": no libmillrace_absent.so.12"},
      [] { DynamicLibrary absent({"libmillrace_absent.so.13", "libmillrace_absent.so.12"}, "multiplying matrices"); });
}

TEST(library_in_a_named_folder) {
  Folder folder;
  const std::string file = folder.path + "/lib/libmillrace_test.so.1";
  mkdir((folder.path + "/lib").c_str(), 0700);
  // A copy of a small library that every machine has, under a name none has.
  std::ifstream from(DynamicLibrary({"libutil.so.1", "libdl.so.2"}, "the test").path(), std::ios::binary);
  std::ofstream(file, std::ios::binary) << from.rdbuf();
  DynamicLibrary library({"libmillrace_test.so.1"}, "the test");
  expect(library.path() == file, "path is " + library.path());
}

TEST(file_that_is_no_library) {
  Folder folder;
  mkdir((folder.path + "/lib").c_str(), 0700);
  std::ofstream(folder.path + "/lib/libmillrace_test.so.1") << "not ELF";
  expect_error(Status::unavailable, {folder.path + "/lib/libmillrace_test.so.1: "},
               [] { DynamicLibrary library({"libmillrace_test.so.1"}, "the test"); });
}
