// Command sluice is a git for programs that write: every update is durable
// before it is acknowledged, at the cost of a constant number of disk flushes.
package main

import (
	"os"

	"github.com/sluicegit/sluice/cmd/internal/cli"
)

var version = "dev" // set by the build: -ldflags "-X main.version=..."

func main() { os.Exit(cli.Main(version)) }
