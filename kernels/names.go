package kernels

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// This file gives the hyperparameters of a kernel their names. A name is as short as it can be
// while no other hyperparameter of the kernel has it.

// A parameter is a hyperparameter of a part of a kernel, with what its names are made of.
type parameter struct {
	Hyperparameter        // as the part itself names it: "gamma"
	kernel         string // the constructor of the part: "RBF"
	number         int    // which one of these in the text of the whole kernel, from 1
	label          string // name of the innermost Named around the part, or ""
	path           string // the constructors around it, and its name: "Sum.1.RBF.gamma"
}

// names returns the names of p, the shortest first, without the path.
func (p parameter) names() [3]string {
	label := ""
	if p.label != "" {
		label = p.label + "."
	}
	all := [...]string{
		label + p.Name,
		label + p.kernel + "." + p.Name,
		label + p.kernel + strconv.Itoa(p.number) + "." + p.Name,
	}
	if all[0] == "c" { // alone, it would be taken for the cost C of a machine
		all[0] = all[1]
	}
	return all
}

// shortened returns the hyperparameters with the first of their names that no other one has. If
// there is none, as for two features of one name, it is the path.
func shortened(list []parameter) []Hyperparameter {
	count := map[string]int{}
	for _, p := range list {
		all := p.names()
		for i, name := range all {
			if !slices.Contains(all[:i], name) {
				count[name]++
			}
		}
	}
	var short []Hyperparameter
	for _, p := range list {
		name := p.path
		for _, n := range p.names() {
			if count[n] == 1 {
				name = n
				break
			}
		}
		short = append(short, Hyperparameter{name, p.Value})
	}
	return short
}

// called returns the indices of the parameters that name may stand for: those that have it as
// one of their names, and those whose path is name or ends with it after a dot.
func called(list []parameter, name string) []int {
	var at []int
	for i, p := range list {
		all := p.names()
		if slices.Contains(all[:], name) || p.path == name || strings.HasSuffix(p.path, "."+name) {
			at = append(at, i)
		}
	}
	return at
}

// Lookup returns the index, among the [Hyperparameters] of k with the same features, of the
// one that is called name: by the name in this list, or by a longer one, such as "RBF.gamma"
// or "Sum.1.RBF.gamma" for "gamma", if it means no other hyperparameter. The error names those
// that there are. The values of k need not be valid.
func Lookup(k Kernel, name string, features ...string) (int, error) {
	list := parametersOf(k, features)
	short := shortened(list)
	if at := slices.IndexFunc(short, func(h Hyperparameter) bool { return h.Name == name }); at >= 0 {
		return at, nil
	}
	at := called(list, name)
	if len(at) == 1 {
		return at[0], nil
	}
	there := make([]string, len(short))
	for i, h := range short {
		there[i] = strconv.Quote(h.Name)
	}
	switch {
	case len(at) > 1:
		some := make([]string, len(at))
		for i, j := range at {
			some[i] = there[j]
		}
		return -1, fmt.Errorf("kernels: %q may be one of %s: give one of these names", name, strings.Join(some, ", "))
	case len(there) == 0:
		return -1, fmt.Errorf("kernels: there is no hyperparameter %q: %s has none", name, describe(k))
	}
	return -1, fmt.Errorf("kernels: there is no hyperparameter %q: there are %s", name, strings.Join(there, ", "))
}

// parametersOf returns the parameters of k in the order of its Hyperparameters.
func parametersOf(k Kernel, features []string) []parameter {
	return newScan(features).of(k)
}

// A scan goes through the parts of a kernel in the order in which String writes them.
type scan struct {
	count    map[string]int // of each constructor so far
	features []string       // names of the features that the part sees, or nil
}

func newScan(features []string) *scan { return &scan{map[string]int{}, features} }

// of returns the parameters of a part.
func (s *scan) of(k Kernel) []parameter {
	d, ok := k.(Differentiable)
	if !ok {
		return nil
	}
	constructor, _, _ := strings.Cut(k.String(), "(")
	s.count[constructor]++
	number := s.count[constructor]
	var list []parameter
	if k, ok := as[interface{ parameters(s *scan) []parameter }](k); ok {
		list = k.parameters(s)
	} else {
		for _, h := range d.Hyperparameters() {
			list = append(list, own(h.Name, h.Value))
		}
	}
	for i := range list {
		p := &list[i]
		p.path = constructor + "." + p.path
		if p.kernel == "" {
			p.kernel, p.number = constructor, number
		}
	}
	return list
}

// own returns a parameter of the part itself. The scan adds the rest.
func own(name string, value float64) parameter {
	return parameter{Hyperparameter: Hyperparameter{name, value}, path: name}
}

// unnamed returns the parameters of a part that sees other features than those with names.
func (s *scan) unnamed(k Kernel) []parameter {
	all := s.features
	defer func() { s.features = all }()
	s.features = nil
	return s.of(k)
}

// ofAll returns the parameters of several parts, which their paths count from 0.
func (s *scan) ofAll(parts []Kernel) []parameter {
	var list []parameter
	for t, k := range parts {
		for _, p := range s.of(k) {
			p.path = strconv.Itoa(t) + "." + p.path
			list = append(list, p)
		}
	}
	return list
}

// within returns the parameters of a part, and the same with numbers that count within the
// part.
func (s *scan) within(k Kernel) (list, alone []parameter) {
	before := maps.Clone(s.count)
	list = s.of(k)
	alone = slices.Clone(list)
	for i := range alone {
		alone[i].number -= before[alone[i].kernel]
	}
	return list, alone
}
