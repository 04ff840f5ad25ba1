package model

import "github.com/svmnb/svmnb/svmnb/internal/machines"

// What the tests of the formats ask for.
var (
	HasGoKernel     = goKernel
	HasLIBSVMKernel = libsvmKernel
	HasONNXKernel   = onnxKernel
)

// Made is a model of any machines.
func Made(m machines.Machines) *Model { return &Model{m} }
