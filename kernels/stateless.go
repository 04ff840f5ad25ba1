package kernels

// stateless is embedded by kernels without a parameter.
type stateless struct{}

// Check returns nil: there is nothing to set.
func (stateless) Check() error { return nil }

// GobEncode writes nothing; gob refuses a struct without fields otherwise.
func (stateless) GobEncode() ([]byte, error) { return nil, nil }

// GobDecode reads what GobEncode has written.
func (*stateless) GobDecode([]byte) error { return nil }
