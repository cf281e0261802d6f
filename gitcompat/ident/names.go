package ident

var monthNames = [...]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}

var dayNames = [...]string{"Sundays", "Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays"}

// zoneNames are the time zones that git knows by name, in hours; summer time is
// in them.
var zoneNames = [...]struct {
	name  string
	hours int
}{
	{"IDLW", -12}, {"NT", -11}, {"CAT", -10}, {"HST", -10}, {"HDT", -9}, {"YST", -9}, {"YDT", -8}, {"PST", -8}, {"PDT", -7},
	{"MST", -7}, {"MDT", -6}, {"CST", -6}, {"CDT", -5}, {"EST", -5}, {"EDT", -4}, {"AST", -3}, {"ADT", -2}, {"WAT", -1},
	{"GMT", 0}, {"UTC", 0}, {"Z", 0},
	{"WET", 0}, {"BST", 1}, {"CET", 1}, {"MET", 1}, {"MEWT", 1}, {"MEST", 2}, {"CEST", 2}, {"MESZ", 2}, {"FWT", 1}, {"FST", 2},
	{"EET", 2}, {"EEST", 3}, {"WAST", 7}, {"WADT", 8}, {"CCT", 8}, {"JST", 9}, {"EAST", 10}, {"EADT", 11}, {"GST", 10},
	{"NZT", 12}, {"NZST", 12}, {"NZDT", 13}, {"IDLE", 12},
}

// zoneName reads the name of a time zone at the front of s, and returns its
// length and its offset in minutes.
func zoneName(s string) (length, offset int) {
	for _, z := range zoneNames {
		if n := sameLetters(s, z.name); n >= 3 || n == len(z.name) {
			return n, z.hours * 60
		}
	}
	return 0, 0
}
