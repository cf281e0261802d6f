// Package worktree is the working tree of a repository: which files it has,
// which of them count, and what bytes of theirs the repository keeps.
//
// It matches pathspecs and ignore patterns, looks attributes up, walks for
// untracked files, converts content on its way in and out, and compares index
// entries with the files they stand for.
//
// Sources: gitignore(5), gitattributes(5), the pathspec entry of
// gitglossary(7), and racy-git of git 2.55.
//
// Invariants:
//
//	W1  paths are slash separated and relative to Root; a directory that is
//	    named as a result ends in "/".
//	W2  the package reads the working tree and never writes to it, except
//	    where checkout is asked for, and then through the repository's vfs.
//	W3  symbolic links are never followed inside the working tree: not for
//	    .gitignore or .gitattributes, not for content, not for a leading
//	    directory.
//	W4  what is converted is a function of bytes, attributes and settings; a
//	    failure that git calls fatal stops before anything is written.
package worktree
