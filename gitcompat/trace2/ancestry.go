package trace2

import (
	"os"
	"strconv"
	"strings"
)

// ancestry returns the names of the processes above this one, where the system
// shows them in /proc.
func ancestry() []string {
	var names []string
	for pid := os.Getppid(); pid > 0 && len(names) < 64; {
		data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			break
		}
		stat := string(data)
		open, end := strings.IndexByte(stat, '('), strings.LastIndexByte(stat, ')')
		if open < 0 || end < open {
			break
		}
		names = append(names, stat[open+1:end])
		fields := strings.Fields(stat[end+1:])
		if len(fields) < 2 {
			break
		}
		if pid, err = strconv.Atoi(fields[1]); err != nil {
			break
		}
	}
	return names
}
