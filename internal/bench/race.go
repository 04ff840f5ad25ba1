package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"
)

// bench has the settings of the races.
type bench struct {
	quick   bool
	runs    int
	threads []int
	limit   time.Duration // time limit of one process
	dir     string        // folder of the data
	self    string        // path of this binary
	out     io.Writer
	peers   []peer
}

const rowFormat = "%-20s %2s %9s  %-9s %9s %7s %15s %10s %8s %6s  %s"

// entrant is one competitor, or svmnb itself, on a number of threads.
type entrant struct {
	peer    *peer // nil means svmnb
	threads int
}

// race runs all competitors in turn and repeats this for each run, so that other load on the
// machine slows all of them down alike. Then it prints the rows.
func (b *bench) race(ctx context.Context, w work) error {
	if err := w.write(b.dir); errors.Is(err, errAbsent) {
		fmt.Fprintf(b.out, "%s: %v\n", w.name, err)
		return nil
	} else if err != nil {
		return fmt.Errorf("%s: %w", w.name, err)
	}
	var entrants []entrant
	for _, t := range b.threads {
		entrants = append(entrants, entrant{nil, t})
	}
	most := b.threads[len(b.threads)-1]
	for i := range b.peers {
		p := &b.peers[i]
		if !slices.Contains(w.peers, p.name) {
			continue
		}
		if p.threaded && (w.job.Kind == process || w.job.Kind == evidence) {
			for _, t := range b.threads {
				entrants = append(entrants, entrant{p, t})
			}
		} else { // this competitor uses only one thread
			entrants = append(entrants, entrant{p, most})
		}
	}
	answers := map[entrant][]answer{}
	failed := map[entrant]error{}
	runs := b.runs
	switch {
	case w.small && b.quick:
		runs *= 5
	case w.small:
		runs *= 20
	}
	for range runs {
		for _, e := range entrants {
			if failed[e] != nil {
				continue
			}
			var a answer
			var err error
			if e.peer == nil {
				a, err = b.ours(ctx, w.job, e.threads)
			} else {
				a, err = e.peer.run(ctx, b, w.job, e.threads)
			}
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				failed[e] = err
			default:
				answers[e] = append(answers[e], a)
			}
		}
	}
	b.print(w, entrants, answers, failed)
	return nil
}

// print compares svmnb with each competitor.
func (b *bench) print(w work, entrants []entrant, answers map[entrant][]answer, failed map[entrant]error) {
	for _, e := range entrants {
		if err := failed[e]; err != nil {
			fmt.Fprintf(b.out, "%s: FAILED: %s on %d threads: %v\n", w.name, e.name(), e.threads, err)
		}
	}
	for _, t := range b.threads {
		if failed[entrant{nil, t}] != nil {
			continue
		}
		us := median(answers[entrant{nil, t}])
		alone := true
		for _, e := range entrants {
			if e.peer == nil || failed[e] != nil || e.peer.threaded && slices.Contains(entrants, entrant{e.peer, t}) && e.threads != t {
				continue
			}
			alone = false
			them := median(answers[e])
			if them.Seconds <= 0 {
				fmt.Fprintf(b.out, "%s: %s trains in less time than its reading varies by\n", w.name, e.name())
				continue
			}
			ratio := them.Seconds / us.Seconds
			fmt.Fprintf(b.out, rowFormat+"\n", w.name, fmt.Sprint(t), seconds(us.Seconds), e.name(), seconds(them.Seconds), fmt.Sprintf("%.3g", ratio),
				fmt.Sprintf("%.8g", us.Objective), against(us.Objective, them.Objective), sci(us.KKT), fmt.Sprint(us.Peak>>20), us.How)
			fmt.Fprintf(b.out, "RATIO %s %dt %s %.3g\n", w.name, t, e.name(), ratio)
		}
		if alone {
			fmt.Fprintf(b.out, rowFormat+"\n", w.name, fmt.Sprint(t), seconds(us.Seconds), "-", "-", "-",
				fmt.Sprintf("%.8g", us.Objective), "-", sci(us.KKT), fmt.Sprint(us.Peak>>20), us.How)
		}
	}
	if first, last := (entrant{nil, b.threads[0]}), (entrant{nil, b.threads[len(b.threads)-1]}); first != last && failed[first] == nil && failed[last] == nil {
		fmt.Fprintf(b.out, "RATIO %s %dt ours-%dt %.3g\n", w.name, last.threads, first.threads, median(answers[first]).Seconds/median(answers[last]).Seconds)
	}
}

func (e entrant) name() string {
	if e.peer == nil {
		return "ours"
	}
	return e.peer.name
}

// median returns an answer with the median of Seconds − Reading. Both times of a difference
// are from the same turn, so other load slows both down.
func median(a []answer) answer {
	net := make([]float64, len(a))
	for i := range a {
		net[i] = a[i].Seconds - a[i].Reading
	}
	slices.Sort(net)
	m := a[0]
	m.Seconds, m.Reading = net[len(a)/2], 0
	return m
}

// sci formats v. A value of 0, which nobody has measured, becomes "-".
func sci(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1e", v)
}

func seconds(s float64) string { return fmt.Sprintf("%.3g", s) }

// against formats (ours − theirs)/|theirs|, which is negative if our minimum is lower. If the
// competitor reports no value (0), the result is "-".
func against(ours, theirs float64) string {
	if theirs == 0 {
		return "-"
	}
	return fmt.Sprintf("%+.1e", (ours-theirs)/math.Abs(theirs))
}
