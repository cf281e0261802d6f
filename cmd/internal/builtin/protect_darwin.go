package builtin

// protectHFS is the default of core.protectHFS.
const protectHFS = true
