package cuda

import (
	"fmt"
)

// DeviceInfo describes a GPU.
type DeviceInfo struct {
	Name string
	// Capability is the compute capability: 90 for 9.0.
	Capability int
	// Processors is the number of streaming multiprocessors.
	Processors int
	TotalBytes uint64
}

// System is what the machine has.
type System struct {
	Devices []DeviceInfo
	// Driver and Runtime are the newest CUDA version that the driver serves and the one
	// that the library is built with: 1000*major + 10*minor.
	Driver, Runtime int
	// Library is the library's file.
	Library string
}

// Look describes the machine's GPUs, at most 16. Where there is none to use, the error
// is ErrUnavailable.
func Look() (System, error) {
	l, err := loaded()
	if err != nil {
		return System{}, err
	}
	var c devicesCall
	if err := call(l.devices, &c, &c.report); err != nil {
		return System{}, err
	}
	s := System{Driver: int(c.driverVersion), Runtime: int(c.runtimeVersion), Library: l.path}
	for _, d := range c.devices[:c.count] {
		s.Devices = append(s.Devices, DeviceInfo{
			Name: text(d.name[:]), Capability: int(d.capability), Processors: int(d.processors), TotalBytes: d.totalBytes,
		})
	}
	return s, nil
}

// Device is an open GPU. It is safe for concurrent use; calls take turns.
type Device struct {
	abi     *library
	handle  uintptr
	ordinal int
}

// Open opens the GPU of an ordinal, counted from 0 as CUDA_VISIBLE_DEVICES lists them.
// A library, driver or capability that is missing is ErrUnavailable.
func Open(ordinal int) (*Device, error) {
	l, err := loaded()
	if err != nil {
		return nil, err
	}
	c := openCall{ordinal: int32(ordinal)}
	if err := call(l.open, &c, &c.report); err != nil {
		return nil, fmt.Errorf("opening cuda:%d: %w", ordinal, err)
	}
	return &Device{abi: l, handle: c.device, ordinal: ordinal}, nil
}

// Memory tells the device's memory in bytes, that of all processes.
func (d *Device) Memory() (free, total uint64, err error) {
	c := memoryCall{device: d.handle}
	if err := call(d.abi.memory, &c, &c.report); err != nil {
		return 0, 0, fmt.Errorf("cuda:%d: %w", d.ordinal, err)
	}
	return c.freeBytes, c.totalBytes, nil
}

// Close closes the device. Its trainers and generators must be closed.
func (d *Device) Close() error {
	c := closeCall{device: d.handle}
	if err := call(d.abi.close, &c, &c.report); err != nil {
		return fmt.Errorf("closing cuda:%d: %w", d.ordinal, err)
	}
	return nil
}
