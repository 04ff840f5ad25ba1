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

// FieldsOfGo are the names of the fields of a Row in Go source.
func (m *Model) FieldsOfGo() []string {
	p, _ := m.of.Before.Compile()
	return goFields(p.Columns)
}
