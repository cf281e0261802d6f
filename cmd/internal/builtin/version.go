package builtin

import (
	"runtime"
	"strconv"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
)

var cmdVersion = &Command{
	Name:    "version",
	Run:     runVersion,
	Options: func() *parseopt.Parser { return versionParser(new(bool)) },
}

func versionParser(build *bool) *parseopt.Parser {
	return &parseopt.Parser{
		Usage: []string{"git version [--build-options]"},
		Options: []parseopt.Option{
			parseopt.Bool(0, "build-options", build, "say how this program was built as well"),
		},
	}
}

func runVersion(env *Env, argv []string) Status {
	var build bool
	if _, err := env.Parse(versionParser(&build), argv); err != nil {
		return Fatal(err)
	}
	env.Printf("git version %s\n", env.Version)
	if build {
		word := strconv.Itoa(strconv.IntSize / 8)
		env.Print("cpu: "+cpu()+"\n",
			"no commit associated with this build\n",
			"sizeof-long: "+word+"\n",
			"sizeof-size_t: "+word+"\n",
			"shell-path: /bin/sh\n",
			"compiler: "+runtime.Version()+"\n",
			"default-ref-format: files\n",
			"default-hash: sha1\n")
	}
	return OK
}

// cpu is the processor as uname names it.
func cpu() string {
	switch runtime.GOARCH {
	case "amd64":
		return "x86_64"
	case "arm64":
		return "aarch64"
	}
	return runtime.GOARCH
}
