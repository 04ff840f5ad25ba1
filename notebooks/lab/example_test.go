package lab_test

import "github.com/svmnb/svmnb/notebooks/lab"

func ExampleCheck() {
	// The learner's: half of what it should be.
	margin := func(norm float64) float64 { return 1 / norm }
	var slack = lab.Todo

	lab.Check("3.2",
		lab.Equal("the number of lines", 2, 2, "Count again."),
		lab.Near("the margin", margin(4), 2.0/4, 1e-9, "From one line to the other, not to the middle."),
		lab.Near("the slack", slack, 0.25, 1e-9, "It is measured from the line of its own class."),
	)
	// Output:
	// Exercise 3.2: not right yet
	// ✓ the number of lines
	// ✗ the margin
	//   From one line to the other, not to the middle.
	// … the slack
}
