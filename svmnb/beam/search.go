package beam

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/selection"
)

func init() { kinds["search"] = searchPiece }

// searchSpec says how a worker process comes to the search.
type searchSpec struct {
	Name string      `json:"name,omitempty"` // of a registered search
	Text *searchText `json:"text,omitempty"`
}

// Chains implements [selection.Place].
func (r Runner) Chains(ctx context.Context, s selection.Searcher, chains []selection.Chain, done func(lines []byte) error) error {
	if err := r.check(); err != nil {
		return err
	}
	r = r.filled()
	w, err := s.Worker()
	if err != nil {
		return err
	}
	files, end, err := r.folder(ctx)
	if err != nil {
		return err
	}
	defer end()
	p := pass{what: "search", kind: "search", key: w.Key(), mem: w, each: func(_ int, out []byte) error { return done(out) }}
	if !r.inside() {
		if p.spec, err = specOf(ctx, files, s); err != nil {
			return err
		}
	}
	for _, c := range chains {
		p.args, p.says = append(p.args, c), append(p.says, w.Says(c))
	}
	return r.run(ctx, files, p)
}

func searchPiece(ctx context.Context, s store, t *task, local any, arg json.RawMessage) ([]byte, error) {
	var c selection.Chain
	if err := json.Unmarshal(arg, &c); err != nil {
		return nil, err
	}
	w, ok := local.(*selection.Worker)
	if !ok {
		var err error
		if w, err = workerOf(ctx, s, t); err != nil {
			return nil, err
		}
	}
	return w.Run(ctx, c)
}

var searches struct {
	sync.Mutex
	of map[string]func() (selection.Searcher, error)
}

// RegisterSearch names a search, for worker processes to build it for themselves; see
// [Runner.Named]. It is called in main before [Init], or in an init function.
func RegisterSearch(name string, build func() (selection.Searcher, error)) {
	searches.Lock()
	defer searches.Unlock()
	if searches.of == nil {
		searches.of = map[string]func() (selection.Searcher, error){}
	}
	if name == "" || build == nil || searches.of[name] != nil {
		panic(fmt.Sprintf("svmnb: RegisterSearch: the name %q is empty or taken, or there is no function", name))
	}
	searches.of[name] = build
}

// named is a Runner whose workers build a registered search.
type named struct {
	Runner
	name string
}

// Named returns the place where the workers of r build the search that is registered under the
// name:
//
//	selection.Search(learner, space, folds).On(beam.Runner{Processes: 4}.Named("digits")).Fit(ctx)
//
// Worker processes need this for a search that cannot be written down, such as one with a kernel
// or folds of your own. It must have the same data, learner, parameters, folds and metrics as
// the search here; a worker with another one is found out.
func (r Runner) Named(name string) selection.Place { return named{r, name} }

type nameKey struct{}

func (n named) Chains(ctx context.Context, s selection.Searcher, chains []selection.Chain, done func(lines []byte) error) error {
	searches.Lock()
	known := searches.of[n.name] != nil
	searches.Unlock()
	if !known {
		return arguments.Wrong("Named", math.NaN(), "no search has the name %q; there are %s", n.name, strings.Join(registered(), ", "))
	}
	return n.Runner.Chains(context.WithValue(ctx, nameKey{}, n.name), s, chains, done)
}

func registered() (names []string) {
	searches.Lock()
	defer searches.Unlock()
	for name := range searches.of {
		names = append(names, fmt.Sprintf("%q", name))
	}
	return names
}

// specOf returns how workers come to the search.
func specOf(ctx context.Context, files store, s selection.Searcher) (searchSpec, error) {
	if name, ok := ctx.Value(nameKey{}).(string); ok {
		return searchSpec{Name: name}, nil
	}
	text, err := writeSearch(ctx, files, s)
	return searchSpec{Text: text}, err
}

// workers has the searches that this process has built, by their keys.
var workers struct {
	sync.Mutex
	of map[string]*selection.Worker
}

// workerOf builds the search of a task.
func workerOf(ctx context.Context, s store, t *task) (*selection.Worker, error) {
	workers.Lock()
	defer workers.Unlock()
	if w := workers.of[t.Key]; w != nil {
		return w, nil
	}
	var spec searchSpec
	if err := json.Unmarshal(t.Spec, &spec); err != nil {
		return nil, err
	}
	search, err := spec.search(ctx, s)
	if err != nil {
		return nil, err
	}
	w, err := search.Worker()
	if err != nil {
		return nil, err
	}
	if w.Key() != t.Key {
		return nil, fmt.Errorf("the worker has another search, %v, or other data", search)
	}
	workers.of = map[string]*selection.Worker{t.Key: w} // one search at a time, since its data may be large
	return w, nil
}

func (spec searchSpec) search(ctx context.Context, s store) (selection.Searcher, error) {
	if spec.Text != nil {
		return spec.Text.search(ctx, s)
	}
	searches.Lock()
	build := searches.of[spec.Name]
	searches.Unlock()
	if build == nil {
		return selection.Searcher{}, fmt.Errorf("this worker does not know a search %q; is it of the same program?", spec.Name)
	}
	return build()
}
