package beam

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/svmnb/svmnb/internal/panics"
)

// pass is one pass over pieces.
type pass struct {
	what string // for Progress
	kind string // of kinds
	key  string // hash of everything that the results depend on but for args
	spec any    // what workers need for all pieces, as JSON
	mem  any    // what pieces in this process get in place of spec; may be nil
	args []any  // one for each piece, as JSON
	says []string
	// each gets the result of every piece, in any order, one call at a time.
	each func(i int, out []byte) error
}

// errIdle is why a job was cancelled in which nothing happened any more.
var errIdle = errors.New("nothing happened any more, and the watchdog ended the job")

// run computes all pieces of a pass that are not in the folder yet.
func (r Runner) run(ctx context.Context, s store, p pass) error {
	t := &task{Kind: p.kind, Key: p.key, Says: p.says, Slots: r.slots(), Beat: r.beat, Limit: r.Limit}
	for _, arg := range p.args {
		text, err := json.Marshal(arg)
		if err != nil {
			return fmt.Errorf("svmnb: Beam: %w", err)
		}
		t.Args = append(t.Args, text)
	}
	if r.inside() {
		var end func()
		t.Local, end = handOver(ctx, p.mem)
		defer end()
	} else {
		var err error
		if t.Spec, err = json.Marshal(p.spec); err != nil {
			return fmt.Errorf("svmnb: Beam: %w", err)
		}
	}
	d := &driver{r: r, s: s, t: t, p: p, missing: map[string]int{}, began: time.Now(), tries: map[int]int{}, errs: map[int]error{}, beats: map[string]string{}}
	d.progress = Progress{What: p.what, All: len(t.Args)}
	for i := range t.Args {
		name := t.name(i)
		if _, twice := d.missing[name]; twice {
			return fmt.Errorf("svmnb: Beam: two pieces are the same, %s", p.says[i])
		}
		d.missing[name] = i
	}
	if err := d.clear(ctx); err != nil {
		return err
	}
	if err := d.collect(ctx); err != nil {
		return err
	}
	d.progress.Known = d.progress.Done
	if err := d.tell(); err != nil || len(d.missing) == 0 {
		return err
	}
	text, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("svmnb: Beam: %w", err)
	}
	file := "task-" + hash(text) + ".json"
	if err := s.write(ctx, file, text); err != nil {
		return fmt.Errorf("svmnb: Dir: %w", err)
	}
	defer s.remove(context.WithoutCancel(ctx), file)
	return d.drive(ctx, file)
}

// driver has the pieces of a pass computed, and again where they failed.
type driver struct {
	r     Runner
	s     store
	t     *task
	p     pass
	began time.Time

	missing  map[string]int // pieces without a result, by their names
	progress Progress
	tries    map[int]int
	errs     map[int]error // why the last try failed
	died     map[int]bool  // pieces whose worker died; they are tried alone
	beats    map[string]string
}

// drive submits what is missing until nothing is, or a piece has failed too often.
func (d *driver) drive(ctx context.Context, file string) error {
	d.died = map[int]bool{}
	for fruitless := 0; ; {
		groups := d.groups()
		if len(groups) == 0 {
			return nil
		}
		before := len(d.missing)
		words, err := d.submission(ctx, file, groups)
		if e := d.collect(context.WithoutCancel(ctx)); e != nil {
			return e
		}
		if ctx.Err() != nil {
			return fmt.Errorf("svmnb: Beam: after %d of %d pieces: %w", d.progress.Done, d.progress.All, context.Cause(ctx))
		}
		failures, e := d.failures(ctx, words, errors.Is(err, errLostServer))
		if e != nil {
			return e
		}
		if errors.Is(err, errNoServer) {
			return fmt.Errorf("svmnb: Beam: after %d of %d pieces: %w", d.progress.Done, d.progress.All, err)
		}
		if worst := d.worst(); worst != nil {
			return worst
		}
		if len(d.missing) == before && failures == 0 {
			if err == nil {
				err = errors.New("the runner says that it is done, but has computed nothing")
			}
			if fruitless++; fruitless >= d.r.Tries {
				return fmt.Errorf("svmnb: Beam: %w", err)
			}
		} else {
			fruitless = 0
		}
		d.progress.Retried += len(d.missing)
	}
}

// groups deals the missing pieces over jobs. Pieces whose worker died come last, each in a job
// of its own: if one of them kills its worker again, it is known which.
func (d *driver) groups() [][]int {
	var rest, alone []int
	for _, i := range d.missing {
		if d.died[i] {
			alone = append(alone, i)
		} else {
			rest = append(rest, i)
		}
	}
	slices.Sort(rest)
	slices.Sort(alone)
	jobs := 1
	if d.r.Endpoint == "" && d.r.Engine == "" {
		jobs = jobsFor(d.r.Processes)
	}
	groups := make([][]int, min(jobs, max(len(rest), len(alone))))
	if len(rest) == 0 {
		for k, i := range alone[:len(groups)] {
			groups[k] = []int{i}
		}
		return groups
	}
	groups = groups[:min(jobs, len(rest))]
	for k, i := range rest {
		groups[k%len(groups)] = append(groups[k%len(groups)], i)
	}
	return groups
}

// submission runs jobs, one for each group, and watches the files that they write. words is what
// workers said last before they died.
func (d *driver) submission(ctx context.Context, file string, groups [][]int) (words string, err error) {
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var said lastWords
	ended := make(chan error, len(groups))
	for _, group := range groups {
		go func() { ended <- d.r.job(inner, d.s, file, group, &said) }()
	}
	pause := 2 * time.Second
	if d.s.local() {
		pause = min(100*time.Millisecond, d.r.Idle/4)
	}
	look := time.NewTicker(pause)
	defer look.Stop()
	last := time.Now()
	var errs []error
	for open := len(groups); open > 0; {
		select {
		case e := <-ended:
			open--
			errs = append(errs, e)
			last = time.Now()
		case <-look.C:
			left := len(d.missing)
			if e := d.collect(ctx); e != nil && ctx.Err() == nil {
				stop(e)
				return said.String(), e
			}
			if d.alive(ctx) || len(d.missing) < left {
				last = time.Now()
			}
			if time.Since(last) > d.r.Idle {
				stop(fmt.Errorf("%w after %v", errIdle, d.r.Idle))
			}
			if len(d.missing) == 0 && time.Since(last) > 5*time.Second {
				return said.String(), nil // a job that does not notice its end is left behind
			}
		case <-inner.Done():
			// Jobs end soon after they are cancelled; one that hangs is left behind.
			for late := time.After(10 * time.Second); open > 0; {
				select {
				case e := <-ended:
					open--
					errs = append(errs, e)
				case <-late:
					return said.String(), errors.Join(append(errs, context.Cause(inner))...)
				}
			}
			return said.String(), errors.Join(append(errs, context.Cause(inner))...)
		}
	}
	return said.String(), errors.Join(errs...)
}

// collect hands on the results that have come.
func (d *driver) collect(ctx context.Context) error {
	there, err := d.s.names(ctx, doneFile)
	if err != nil {
		return fmt.Errorf("svmnb: Dir: %w", err)
	}
	var come []int
	for name, i := range d.missing {
		if there[name] {
			come = append(come, i)
		}
	}
	slices.Sort(come)
	for _, i := range come {
		out, err := d.s.read(ctx, d.t.name(i)+doneFile)
		if err != nil {
			return fmt.Errorf("svmnb: Dir: %w", err)
		}
		if err := d.p.each(i, out); err != nil {
			return err
		}
		delete(d.missing, d.t.name(i))
		d.progress.Done++
		if !d.first() {
			if err := d.tell(); err != nil {
				return err
			}
		}
	}
	return nil
}

// first reports whether the results are those of an earlier run.
func (d *driver) first() bool { return d.died == nil }

func (d *driver) tell() error {
	if d.r.Watch == nil {
		return nil
	}
	d.progress.Elapsed = time.Since(d.began)
	return panics.Call(func() string { return "the function of Watch" }, func() error { d.r.Watch(d.progress); return nil })
}

// clear removes what an earlier run has left about pieces that it did not finish.
func (d *driver) clear(ctx context.Context) error {
	for _, ending := range []string{aliveFile, failedFile} {
		names, err := d.s.names(ctx, ending)
		if err != nil {
			return fmt.Errorf("svmnb: Dir: %w", err)
		}
		for name := range names {
			if _, ours := d.missing[name]; ours {
				d.s.remove(ctx, name+ending)
			}
		}
	}
	return nil
}

// alive reports whether a worker has said since the last call that it is alive.
func (d *driver) alive(ctx context.Context) bool {
	names, err := d.s.names(ctx, aliveFile)
	if err != nil {
		return false
	}
	some := false
	for name := range names {
		if _, ours := d.missing[name]; !ours {
			continue
		}
		beat := d.s.changed(ctx, name+aliveFile).String()
		if text, err := d.s.read(ctx, name+aliveFile); err == nil {
			beat += string(text)
		}
		if d.beats[name] != beat {
			d.beats[name], some = beat, true
		}
	}
	return some
}

// failures counts the tries of the pieces that failed or whose worker died. Where the job server is
// lost, its workers have ended through no fault of their pieces.
func (d *driver) failures(ctx context.Context, words string, lost bool) (n int, err error) {
	failed, err := d.s.names(ctx, failedFile)
	if err != nil {
		return 0, fmt.Errorf("svmnb: Dir: %w", err)
	}
	alive, err := d.s.names(ctx, aliveFile)
	if err != nil {
		return 0, fmt.Errorf("svmnb: Dir: %w", err)
	}
	for name, i := range d.missing {
		switch {
		case failed[name]:
			text, err := d.s.read(ctx, name+failedFile)
			if err != nil {
				return 0, fmt.Errorf("svmnb: Dir: %w", err)
			}
			d.errs[i] = errors.New(string(text))
		case alive[name] && lost:
			d.s.remove(ctx, name+aliveFile)
			continue
		case alive[name]:
			d.died[i] = true
			if d.errs[i] = errDied; words != "" {
				d.errs[i] = fmt.Errorf("%w; a worker's last words: %s", errDied, words)
			}
		default:
			continue
		}
		n++
		d.tries[i]++
		d.s.remove(ctx, name+failedFile)
		d.s.remove(ctx, name+aliveFile)
		delete(d.beats, name)
	}
	return n, nil
}

// worst returns the error of the first piece that has failed too often.
func (d *driver) worst() error {
	worst := -1
	for i, tries := range d.tries {
		if _, open := d.missing[d.t.name(i)]; open && tries >= d.r.Tries && (worst < 0 || i < worst) {
			worst = i
		}
	}
	if worst < 0 {
		return nil
	}
	return &PieceError{d.p.says[worst], d.tries[worst], d.errs[worst]}
}
