// Command svmnb-beam computes searches, fits, certificates and predictions on Apache Beam; see
// beam.Command. Notebook cells start it by package svmnb/remote.
package main

import (
	"os"

	"github.com/svmnb/svmnb/svmnb/beam"
)

func main() { os.Exit(beam.Command(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
