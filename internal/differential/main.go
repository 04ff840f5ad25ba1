// Command differential draws random problems of every formulation and solves each by several
// methods. It compares the answers with each other, with the audit, with a solution in 300
// bits, and with scikit-learn's LIBSVM and LIBLINEAR and with svm-train if installed:
//
//	go run ./internal/differential                     # 1,000 problems
//	go run ./internal/differential -n 100000 -seed 7
//	go run ./internal/differential -duration 1h
//	go run ./internal/differential -seed 7 -only 4711  # one of them again
//
// A method may return an optimum within the tolerance that was asked for, or a status or error
// that says why there is none. Everything else is a failure: NaN, a panic, a hang, a status
// that the audit does not confirm, an objective below that of the start, or a disagreement.
// Each failure is reduced to a small problem and printed as a test.
package main

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"time"
)

func main() {
	n := flag.Int("n", 1000, "how many problems")
	seed := flag.Uint64("seed", 1, "seed of all problems")
	duration := flag.Duration("duration", 0, "go on for so long, whatever -n says")
	only := flag.Int64("only", -1, "the number of one problem")
	from := flag.Int("from", 0, "the first number")
	largest := flag.Int("largest", math.MaxInt, "the most points of a problem")
	shown := flag.Int("shown", 3, "how many failures of one kind are shrunk and printed")
	flag.Parse()
	say := func(format string, args ...any) { fmt.Printf(format+"\n", args...) }
	peers := newPeers(say)
	defer peers.close()
	t := &tally{Classes: map[string]int{}}
	began := time.Now()
	last := began
	for number := *from; ; number++ {
		if *only >= 0 {
			number = int(*only)
		}
		p := draw(*seed, uint64(number), *largest)
		methods := pick(*seed, uint64(number), &p)
		precise := number%10 == 0
		if f := try(&p, methods, precise, peers, t); f != nil {
			t.Classes[f.c.kind]++
			if t.Classes[f.c.kind] <= *shown {
				say("\n-- seed %d, problem %d, %v: %s", *seed, number, p.Form, f.c.kind)
				f = shrink(f, methods, precise, peers, 30*time.Second)
				say("%s", f.p.program(f.m, f.c.String()))
			} else {
				say("-- seed %d, problem %d, %v: %v", *seed, number, p.Form, f.c)
			}
		}
		if *only >= 0 || *duration == 0 && t.Problems >= *n || *duration > 0 && time.Since(began) > *duration {
			break
		}
		if time.Since(last) > time.Minute {
			last = time.Now()
			say("%d problems in %v", t.Problems, time.Since(began).Round(time.Second))
		}
	}
	report(t, *seed, time.Since(began), say)
	if len(t.Classes) > 0 {
		peers.close()
		os.Exit(1)
	}
}

func report(t *tally, seed uint64, took time.Duration, say func(string, ...any)) {
	say("\nseed %d: %d problems, %d fits: %d converged, %d ended early and say so, %d refused with a typed error", seed, t.Problems, t.Fits, t.Converged, t.Early, t.Refused)
	say("compared with the programme in 300 bits %d times, with other people's solvers %d times, in %v", t.Exact, t.Peers, took.Round(time.Second))
	failures := 0
	for _, c := range t.Classes {
		failures += c
	}
	say("%d failures", failures)
	for _, k := range slices.Sorted(maps.Keys(t.Classes)) {
		say("  %-28s %d", k, t.Classes[k])
	}
}
