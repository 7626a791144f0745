// Where a tick's numbers lie on the device, and how they come there: one copy out of
// pinned memory for all, and one back for what was sampled.
#pragma once

#include "engine.h"
#include "pinned.h"

namespace millrace {

// TickSizes are a tick's after padding. What is behind the host's rows are sequences of
// one row each, at position 0 of the page kept for them.
struct TickSizes {
  int64_t rows, sequences, samples, stride;
};

// DeviceTick has one address for each array as long as the sizes are the same, so a
// captured graph finds the next tick's numbers where the first one's were.
struct DeviceTick {
  SamplingRow* samplings;  // [samples]
  int32_t* tokens;         // [rows]
  int32_t* positions;      // [rows]
  int32_t* starts;         // [sequences+1]
  int32_t* lengths;        // [sequences]
  int32_t* sampled_rows;   // [samples]
  int32_t* page_table;     // [sequences, stride]
};

class TickRoom {
 public:
  TickRoom(const Device& device, const TickSizes& most);

  DeviceTick upload(const HostTick& tick, const TickSizes& sizes, int32_t padding_page);
  // download copies n results and waits for the device.
  void download(Sampled* to, int64_t n);
  Sampled* sampled() const { return sampled_.data(); }

 private:
  const Device& device_;
  Buffer<char> numbers_;
  Buffer<Sampled> sampled_;
  Pinned host_numbers_, host_sampled_;
};

}  // namespace millrace
