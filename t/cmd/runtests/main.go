// Command runtests is `make test`: it vets, runs the Go tests, and runs each
// script of t/ twice, under stock git (a script that fails there is a wrong
// script) and under sluice. The last line says how many tests passed.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// A tally counts tests.
type tally struct {
	mu                      sync.Mutex
	passed, failed, skipped int
}

func (t *tally) add(passed, failed, skipped int) {
	t.mu.Lock()
	t.passed, t.failed, t.skipped = t.passed+passed, t.failed+failed, t.skipped+skipped
	t.mu.Unlock()
}

func main() {
	scriptsOnly := flag.Bool("scripts", false, "run only the scripts of t/, and of those the ones named")
	flag.Parse()
	start := time.Now()
	var total tally
	if !*scriptsOnly {
		total.step("go vet", exec.Command("go", "vet", "./..."))
		total.goTests()
	}
	total.scripts(flag.Args())
	if total.skipped > 0 {
		fmt.Printf("%d tests were skipped for what this machine lacks, each named above\n", total.skipped)
	}
	fmt.Printf("in %s\n", time.Since(start).Round(time.Second))
	fmt.Printf("%d passed, %d failed\n", total.passed, total.failed)
	if total.failed > 0 || total.passed == 0 {
		os.Exit(1)
	}
}

// step runs a check that is one test.
func (t *tally) step(name string, cmd *exec.Cmd) {
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Printf("FAIL %s: %v\n%s", name, err, out)
		t.add(0, 1, 0)
		return
	}
	t.add(1, 0, 0)
}

// goTests runs go test and counts tests and subtests.
func (t *tally) goTests() {
	cmd := exec.Command("go", "test", "-json", "./...")
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "SLUICE_DELEGATE=never")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Println("FAIL go test:", err)
		t.add(0, 1, 0)
		return
	}
	output := map[string][]string{}
	failed := 0
	for dec := json.NewDecoder(out); ; {
		var e struct{ Action, Package, Test, Output string }
		if dec.Decode(&e) != nil {
			break
		}
		name := e.Package + " " + e.Test
		switch e.Action {
		case "output", "build-output":
			output[name] = append(output[name], e.Output)
		case "pass":
			if e.Test != "" {
				t.add(1, 0, 0)
			}
			delete(output, name)
		case "skip":
			if e.Test != "" {
				fmt.Printf("skip %s\n%s", name, strings.Join(output[name], ""))
				t.add(0, 0, 1)
			}
		case "fail", "build-fail":
			failed++
			fmt.Printf("FAIL %s\n%s", name, strings.Join(output[name], ""))
			t.add(0, 1, 0)
		}
	}
	if err := cmd.Wait(); err != nil && failed == 0 {
		fmt.Println("FAIL go test:", err)
		t.add(0, 1, 0)
	}
}

// scripts runs the scripts of t/ under both gits, as many at a time as there
// are processors.
func (t *tally) scripts(only []string) {
	stock, err := exec.LookPath("git")
	if err != nil {
		fmt.Println("FAIL the scripts need git:", err)
		t.add(0, 1, 0)
		return
	}
	ours, err := filepath.Abs("bin/as-git")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	list, _ := filepath.Glob("t/t[0-9]*.sh")
	work := make(chan func())
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Go(func() {
			for do := range work {
				do()
			}
		})
	}
	for _, script := range list {
		if !wanted(script, only) {
			continue
		}
		for _, under := range []string{filepath.Dir(stock), ours} {
			work <- func() { t.script(script, stock, under) }
		}
	}
	close(work)
	wg.Wait()
}

func wanted(script string, only []string) bool {
	for _, name := range only {
		if strings.Contains(script, name) {
			return true
		}
	}
	return len(only) == 0
}

// script runs one script under the git of one folder and reads its TAP.
func (t *tally) script(script, stock, under string) {
	cmd := exec.Command("sh", script)
	cmd.Env = append(os.Environ(), "STOCK_GIT="+stock, "GIT_UNDER_TEST="+under)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	name := script + " under sluice"
	if under == filepath.Dir(stock) {
		name = script + " under stock git"
	}
	passed, failed, skipped, plan := 0, 0, 0, false
	for sc := bufio.NewScanner(&out); sc.Scan(); {
		line := sc.Text()
		switch {
		case strings.HasPrefix(line, "not ok "):
			failed++
			fmt.Printf("FAIL %s: %s\n", name, line)
		case strings.HasPrefix(line, "ok ") && strings.Contains(line, "# SKIP "):
			// What only one of the two can do is no gap of this machine.
			if !strings.HasSuffix(line, " SLUICE") && !strings.HasSuffix(line, " STOCK") && !strings.Contains(line, " GIT_") {
				skipped++
				fmt.Printf("skip %s: %s\n", name, line)
			}
		case strings.HasPrefix(line, "ok "):
			passed++
		case strings.HasPrefix(line, "1.."):
			plan = true
		case strings.HasPrefix(line, "#"):
			fmt.Println(line)
		default:
			fmt.Printf("%s: %s\n", name, line)
		}
	}
	if !plan || err != nil && failed == 0 {
		failed++
		fmt.Printf("FAIL %s: did not end well: %v\n", name, err)
	}
	t.add(passed, failed, skipped)
}
