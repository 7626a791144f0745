// The calls on devices.
#include <algorithm>

#include "abi.h"

using namespace millrace;

extern "C" {

int32_t mr_abi_version(void) { return MR_ABI_VERSION; }

void mr_devices(mr_devices_call* call) {
  guarded(call->report, [&] {
    call->driver_version = call->runtime_version = call->count = 0;
    check(cudaRuntimeGetVersion(&call->runtime_version), "reading the version of the CUDA runtime");
    check(cudaDriverGetVersion(&call->driver_version), "reading the version of the NVIDIA driver");
    if (call->driver_version == 0) throw Error(Status::unavailable, "no NVIDIA driver is loaded");
    int count = 0;
    check(cudaGetDeviceCount(&count), "counting the devices");
    for (int i = 0; i < std::min<int>(count, MR_MOST_DEVICES); i++) {
      cudaDeviceProp properties;
      check(cudaGetDeviceProperties(&properties, i), "reading a device's properties");
      mr_device_info& info = call->devices[i];
      put(info.name, properties.name);
      info.capability = 10 * properties.major + properties.minor;
      info.processors = properties.multiProcessorCount;
      info.total_bytes = properties.totalGlobalMem;
      call->count = i + 1;
    }
  });
}

void mr_open(mr_open_call* call) {
  call->device = nullptr;
  guarded(call->report, [&] { call->device = new mr_device(call->ordinal); });
}

void mr_close(mr_close_call* call) {
  in_turn(call->report, call->device, [&] {
    const int policies = call->device->policies, engines = call->device->engines;
    if (policies + engines > 0) {
      throw Error(Status::invalid, "the device has " + std::to_string(policies) + " policies and " + std::to_string(engines) +
                                       " engines");
    }
  });
  if (call->report.status == MR_OK) delete call->device;
}

void mr_memory(mr_memory_call* call) {
  in_turn(call->report, call->device, [&] {
    call->free_bytes = call->device->device.free_bytes();
    call->total_bytes = call->device->device.total_bytes;
  });
}

}  // extern "C"
