// Package diff compares trees, the index and the working tree path by path, and
// finds renames.
//
// Source: gitdiffcore(7) of git 2.55; diff-lib.c, tree-diff.c, diffcore-rename.c
// and diffcore-delta.c say what the numbers are.
//
// Invariants:
//
//	D1  changes come in the order of their paths as git has it, whatever is compared.
//	D2  a subtree that is the same on both sides is not read: neither its tree
//	    objects nor, where the cache-tree knows it, its index entries.
//	D3  similarity scores are git's, to the last unit: what is a rename for git
//	    is one here.
//	D4  nothing here writes, but comparing the working tree may bring stat data of
//	    the index up to date in memory.
package diff
