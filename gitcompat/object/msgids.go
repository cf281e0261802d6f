package object

// A MsgID names one kind of complaint of fsck.
type MsgID uint8

// The message ids of git 2.55, those about refs included.
const (
	MsgNulInHeader MsgID = iota
	MsgUnterminatedHeader
	MsgBadHeaderContinuation
	MsgBadDate
	MsgBadDateOverflow
	MsgBadEmail
	MsgBadGpgsig
	MsgBadHeadTarget
	MsgBadName
	MsgBadObjectSha1
	MsgBadPackedRefEntry
	MsgBadPackedRefHeader
	MsgBadParentSha1
	MsgBadReferentName
	MsgBadRefContent
	MsgBadRefFiletype
	MsgBadRefName
	MsgBadRefOid
	MsgBadTimezone
	MsgBadTree
	MsgBadTreeSha1
	MsgBadType
	MsgDuplicateEntries
	MsgGitattributesBlob
	MsgGitattributesLarge
	MsgGitattributesLineLength
	MsgGitattributesMissing
	MsgGitmodulesBlob
	MsgGitmodulesLarge
	MsgGitmodulesMissing
	MsgGitmodulesName
	MsgGitmodulesPath
	MsgGitmodulesSymlink
	MsgGitmodulesUpdate
	MsgGitmodulesUrl
	MsgMissingAuthor
	MsgMissingCommitter
	MsgMissingEmail
	MsgMissingNameBeforeEmail
	MsgMissingObject
	MsgMissingSpaceBeforeDate
	MsgMissingSpaceBeforeEmail
	MsgMissingTag
	MsgMissingTagEntry
	MsgMissingTree
	MsgMissingType
	MsgMissingTypeEntry
	MsgMultipleAuthors
	MsgPackedRefEntryNotTerminated
	MsgPackedRefUnsorted
	MsgTreeNotSorted
	MsgUnknownType
	MsgZeroPaddedDate
	MsgBadReftableTableName
	MsgEmptyName
	MsgFullPathname
	MsgHasDot
	MsgHasDotdot
	MsgHasDotgit
	MsgLargePathname
	MsgNullSha1
	MsgNulInCommit
	MsgZeroPaddedFilemode
	MsgBadFilemode
	MsgBadTagName
	MsgEmptyPackedRefsFile
	MsgGitattributesSymlink
	MsgGitignoreSymlink
	MsgGitmodulesParse
	MsgMailmapSymlink
	MsgMissingTaggerEntry
	MsgRefMissingNewline
	MsgSymlinkRef
	MsgSymrefTargetIsNotARef
	MsgTrailingRefContent
	MsgExtraHeaderEntry
	numMsgs
)

type msgInfo struct {
	name     string
	severity Severity
}

var msgTable = [numMsgs]msgInfo{
	MsgNulInHeader:                 {"nulInHeader", sevFatal},
	MsgUnterminatedHeader:          {"unterminatedHeader", sevFatal},
	MsgBadHeaderContinuation:       {"badHeaderContinuation", Error},
	MsgBadDate:                     {"badDate", Error},
	MsgBadDateOverflow:             {"badDateOverflow", Error},
	MsgBadEmail:                    {"badEmail", Error},
	MsgBadGpgsig:                   {"badGpgsig", Error},
	MsgBadHeadTarget:               {"badHeadTarget", Error},
	MsgBadName:                     {"badName", Error},
	MsgBadObjectSha1:               {"badObjectSha1", Error},
	MsgBadPackedRefEntry:           {"badPackedRefEntry", Error},
	MsgBadPackedRefHeader:          {"badPackedRefHeader", Error},
	MsgBadParentSha1:               {"badParentSha1", Error},
	MsgBadReferentName:             {"badReferentName", Error},
	MsgBadRefContent:               {"badRefContent", Error},
	MsgBadRefFiletype:              {"badRefFiletype", Error},
	MsgBadRefName:                  {"badRefName", Error},
	MsgBadRefOid:                   {"badRefOid", Error},
	MsgBadTimezone:                 {"badTimezone", Error},
	MsgBadTree:                     {"badTree", Error},
	MsgBadTreeSha1:                 {"badTreeSha1", Error},
	MsgBadType:                     {"badType", Error},
	MsgDuplicateEntries:            {"duplicateEntries", Error},
	MsgGitattributesBlob:           {"gitattributesBlob", Error},
	MsgGitattributesLarge:          {"gitattributesLarge", Error},
	MsgGitattributesLineLength:     {"gitattributesLineLength", Error},
	MsgGitattributesMissing:        {"gitattributesMissing", Error},
	MsgGitmodulesBlob:              {"gitmodulesBlob", Error},
	MsgGitmodulesLarge:             {"gitmodulesLarge", Error},
	MsgGitmodulesMissing:           {"gitmodulesMissing", Error},
	MsgGitmodulesName:              {"gitmodulesName", Error},
	MsgGitmodulesPath:              {"gitmodulesPath", Error},
	MsgGitmodulesSymlink:           {"gitmodulesSymlink", Error},
	MsgGitmodulesUpdate:            {"gitmodulesUpdate", Error},
	MsgGitmodulesUrl:               {"gitmodulesUrl", Error},
	MsgMissingAuthor:               {"missingAuthor", Error},
	MsgMissingCommitter:            {"missingCommitter", Error},
	MsgMissingEmail:                {"missingEmail", Error},
	MsgMissingNameBeforeEmail:      {"missingNameBeforeEmail", Error},
	MsgMissingObject:               {"missingObject", Error},
	MsgMissingSpaceBeforeDate:      {"missingSpaceBeforeDate", Error},
	MsgMissingSpaceBeforeEmail:     {"missingSpaceBeforeEmail", Error},
	MsgMissingTag:                  {"missingTag", Error},
	MsgMissingTagEntry:             {"missingTagEntry", Error},
	MsgMissingTree:                 {"missingTree", Error},
	MsgMissingType:                 {"missingType", Error},
	MsgMissingTypeEntry:            {"missingTypeEntry", Error},
	MsgMultipleAuthors:             {"multipleAuthors", Error},
	MsgPackedRefEntryNotTerminated: {"packedRefEntryNotTerminated", Error},
	MsgPackedRefUnsorted:           {"packedRefUnsorted", Error},
	MsgTreeNotSorted:               {"treeNotSorted", Error},
	MsgUnknownType:                 {"unknownType", Error},
	MsgZeroPaddedDate:              {"zeroPaddedDate", Error},
	MsgBadReftableTableName:        {"badReftableTableName", Warn},
	MsgEmptyName:                   {"emptyName", Warn},
	MsgFullPathname:                {"fullPathname", Warn},
	MsgHasDot:                      {"hasDot", Warn},
	MsgHasDotdot:                   {"hasDotdot", Warn},
	MsgHasDotgit:                   {"hasDotgit", Warn},
	MsgLargePathname:               {"largePathname", Warn},
	MsgNullSha1:                    {"nullSha1", Warn},
	MsgNulInCommit:                 {"nulInCommit", Warn},
	MsgZeroPaddedFilemode:          {"zeroPaddedFilemode", Warn},
	MsgBadFilemode:                 {"badFilemode", sevInfo},
	MsgBadTagName:                  {"badTagName", sevInfo},
	MsgEmptyPackedRefsFile:         {"emptyPackedRefsFile", sevInfo},
	MsgGitattributesSymlink:        {"gitattributesSymlink", sevInfo},
	MsgGitignoreSymlink:            {"gitignoreSymlink", sevInfo},
	MsgGitmodulesParse:             {"gitmodulesParse", sevInfo},
	MsgMailmapSymlink:              {"mailmapSymlink", sevInfo},
	MsgMissingTaggerEntry:          {"missingTaggerEntry", sevInfo},
	MsgRefMissingNewline:           {"refMissingNewline", sevInfo},
	MsgSymlinkRef:                  {"symlinkRef", sevInfo},
	MsgSymrefTargetIsNotARef:       {"symrefTargetIsNotARef", sevInfo},
	MsgTrailingRefContent:          {"trailingRefContent", sevInfo},
	MsgExtraHeaderEntry:            {"extraHeaderEntry", Ignore},
}

// String returns the id as fsck prints it: nullSha1.
func (m MsgID) String() string { return msgTable[m].name }
