package kernels

// stateless is embedded by kernels without a parameter.
type stateless struct{}

// Check returns nil, as there are no parameters.
func (stateless) Check() error { return nil }

// GobEncode writes nothing. Without it gob would refuse a struct without fields.
func (stateless) GobEncode() ([]byte, error) { return nil, nil }

// GobDecode reads what GobEncode has written.
func (*stateless) GobDecode([]byte) error { return nil }
