// Command fuzzall is `make fuzz`: it finds every fuzz target of the module and
// runs each for -fuzztime, one after the other. A target that finds a crasher
// does not stop the others; the exit status says whether one did.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// A target is a fuzz function of a package.
type target struct{ pkg, name string }

func main() {
	each := flag.Duration("fuzztime", 20*time.Second, "how long each target is fuzzed")
	only := flag.String("run", "Fuzz", "regular expression of the targets' names")
	flag.Parse()
	targets, err := list(*only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "fuzzall:", err)
		os.Exit(1)
	}
	start := time.Now()
	var crashed []target
	for i, t := range targets {
		fmt.Printf("%d/%d %s %s: ", i+1, len(targets), t.pkg, t.name)
		out, err := t.fuzz(*each)
		if err != nil {
			fmt.Printf("FAILED: %v\n%s", err, out)
			crashed = append(crashed, t)
			continue
		}
		fmt.Println(lastProgress(out))
	}
	fmt.Printf("%d targets in %s, %d failed\n", len(targets), time.Since(start).Round(time.Second), len(crashed))
	for _, t := range crashed {
		fmt.Printf("failed: go test -run %s %s\n", t.name, t.pkg)
	}
	if len(crashed) > 0 {
		os.Exit(1)
	}
}

// list asks go test for the fuzz targets whose names match. A package's targets
// come before the line that names the package.
func list(only string) ([]target, error) {
	cmd := exec.Command("go", "test", "-list", only, "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		os.Stdout.Write(out)
		return nil, fmt.Errorf("go test -list: %w", err)
	}
	var targets []target
	var names []string
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 1 && strings.HasPrefix(fields[0], "Fuzz"):
			names = append(names, fields[0])
		case len(fields) > 1 && fields[0] == "ok":
			for _, name := range names {
				targets = append(targets, target{fields[1], name})
			}
			names = nil
		}
	}
	if len(targets) == 0 {
		return nil, fmt.Errorf("no fuzz target matches '%s'", only)
	}
	return targets, nil
}

// fuzz runs t for that long and returns what go test said.
func (t target) fuzz(each time.Duration) ([]byte, error) {
	cmd := exec.Command("go", "test", "-run", "^$", "-fuzz", "^"+t.name+"$", "-fuzztime", each.String(), t.pkg)
	cmd.Env = append(os.Environ(), "SLUICE_DELEGATE=never")
	return cmd.CombinedOutput()
}

// lastProgress is the last line in which the fuzzer tells its count.
func lastProgress(out []byte) string {
	last := "no input was tried"
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		if _, progress, ok := strings.Cut(s.Text(), "elapsed: "); ok && strings.Contains(progress, "execs: ") {
			last = progress
		}
	}
	return last
}
