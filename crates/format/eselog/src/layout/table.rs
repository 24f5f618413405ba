//! The types of records, their fields and their lengths.

use Field as F;
use FieldKind::{I16, I32, I64, Place, Signature, Time, U8, U16, U32, U64};
use Part as P;

use super::{Field, FieldAt, FieldKind, Length, Part, PartOf, RecordLayout};

/// Types that others ask for by name, and numbers they share.
pub(crate) mod types {
    pub(crate) const NOP: u8 = 0;
    pub(crate) const BEGIN: u8 = 5;
    pub(crate) const COMMIT: u8 = 6;
    pub(crate) const ROLLBACK: u8 = 7;
    pub(crate) const BEGIN0: u8 = 8;
    pub(crate) const COMMIT0: u8 = 9;
    pub(crate) const REFRESH: u8 = 10;
    pub(crate) const MACRO_BEGIN: u8 = 11;
    pub(crate) const MACRO_COMMIT: u8 = 12;
    pub(crate) const MACRO_ABORT: u8 = 13;
    pub(crate) const CREATE_DATABASE: u8 = 14;
    pub(crate) const ATTACH_DATABASE: u8 = 15;
    pub(crate) const DETACH_DATABASE: u8 = 16;
    pub(crate) const INIT_OLD: u8 = 1;
    pub(crate) const RECOVERY_QUIT_KEEP: u8 = 80;
    pub(crate) const TERM: u8 = 2;
    pub(crate) const RECOVERY_UNDO: u8 = 17;
    pub(crate) const RECOVERY_QUIT: u8 = 18;
    pub(crate) const CREATE_LARGE_TREE: u8 = 24;
    pub(crate) const CREATE_SMALL_TREE: u8 = 25;
    pub(crate) const CONVERT_TREE_OLD: u8 = 26;
    pub(crate) const SPLIT_OLD: u8 = 27;
    pub(crate) const MERGE_OLD: u8 = 28;
    pub(crate) const INSERT: u8 = 29;
    pub(crate) const FLAG_INSERT: u8 = 30;
    pub(crate) const FLAG_INSERT_REPLACE: u8 = 31;
    pub(crate) const FLAG_DELETE: u8 = 32;
    pub(crate) const REPLACE: u8 = 33;
    pub(crate) const REPLACE_DIFFERENCE: u8 = 34;
    pub(crate) const DELETE: u8 = 35;
    pub(crate) const UNDO_INFORMATION: u8 = 36;
    pub(crate) const DELTA: u8 = 37;
    pub(crate) const SET_EXTERNAL_HEADER: u8 = 38;
    pub(crate) const UNDO: u8 = 39;
    pub(crate) const EMPTY_TREE: u8 = 48;
    pub(crate) const INIT: u8 = 49;
    pub(crate) const TERM2: u8 = 50;
    pub(crate) const RECOVERY_UNDO2: u8 = 51;
    pub(crate) const RECOVERY_QUIT2: u8 = 52;
    pub(crate) const BEGIN_DISTRIBUTED: u8 = 53;
    pub(crate) const CONVERT_TREE: u8 = 58;
    pub(crate) const SPLIT: u8 = 62;
    pub(crate) const MERGE: u8 = 63;
    pub(crate) const SCRUB: u8 = 64;
    pub(crate) const PAGE_MOVE: u8 = 65;
    pub(crate) const EXTEND: u8 = 68;
    pub(crate) const FRAGMENT_BEGIN: u8 = 76;
    pub(crate) const FRAGMENT: u8 = 77;
    pub(crate) const SHRINK: u8 = 78;
    pub(crate) const TRIM: u8 = 81;
    pub(crate) const SET_VERSION: u8 = 92;
    pub(crate) const DELTA64: u8 = 93;
    pub(crate) const SHRINK2: u8 = 94;
    pub(crate) const NEW_PAGE: u8 = 95;
    pub(crate) const ROOT_MOVE: u8 = 96;
    pub(crate) const SHRINK3: u8 = 99;
    pub(crate) const NOP2: u8 = 71;
    /// In an ignorable record: offset of the body's length, and of the body.
    pub(crate) const STATED_LENGTH_AT: usize = 1;
    pub(crate) const IGNORABLE_BYTES: usize = 5;
}

const fn f(field: Field, at: usize, kind: FieldKind) -> FieldAt {
    FieldAt { field, at, kind }
}

const fn short(part: Part, at: usize) -> PartOf {
    PartOf { part, length: Length::U16(at, u16::MAX) }
}

const fn long(part: Part, at: usize) -> PartOf {
    PartOf { part, length: Length::U32(at) }
}

const fn row(
    kind: u8,
    name: &'static str,
    fixed: usize,
    groups: &'static [&'static [FieldAt]],
    parts: &'static [PartOf],
) -> RecordLayout {
    RecordLayout { kind, name, fixed, groups, parts, shortest: fixed }
}

/// A record that states its own length behind its type, and what else of it is known.
const fn ignorable(
    kind: u8,
    name: &'static str,
    fixed: usize,
    groups: &'static [&'static [FieldAt]],
    parts: &'static [PartOf],
) -> RecordLayout {
    RecordLayout { kind, name, fixed, groups, parts, shortest: 5 }
}

const PAGE: &[FieldAt] = &[
    f(F::Session, 1, U16),
    f(F::Database, 3, U8),
    f(F::Page, 4, U32),
    f(F::Dbtime, 8, U64),
    f(F::DbtimeBefore, 16, U64),
    f(F::Begun, 24, U32),
    f(F::Level, 28, U8),
    f(F::Line, 29, U16),
    f(F::Flags, 31, U8),
];
const NODE: &[FieldAt] = &[f(F::Version, 32, U32), f(F::Root, 36, U32), f(F::Object, 40, U32)];
const SESSION: &[FieldAt] = &[f(F::Session, 1, U16)];
const MACRO: &[FieldAt] = &[f(F::Session, 1, U16), f(F::Dbtime, 3, U64)];
const BEGIN: &[FieldAt] = &[f(F::Session, 1, U16), f(F::Levels, 3, U8)];
const TO_LEVEL: &[FieldAt] = &[f(F::Session, 1, U16), f(F::ToLevel, 3, U8)];
const BEGUN4: &[FieldAt] = &[f(F::Begun, 4, U32)];
const QUIT: &[FieldAt] =
    &[f(F::UndoBegan, 1, Place), f(F::RedoBegan, 9, Place), f(F::IsHard, 17, U8)];
const QUIT_TIME: &[FieldAt] = &[f(F::Time, 18, Time)];
const TRACE: &[FieldAt] = &[f(F::Session, 1, U16), f(F::BodyBytes, 3, U16)];
const CREATE_LARGE: &[FieldAt] = &[
    f(F::Object, 32, U32),
    f(F::OwnedRoot, 36, U32),
    f(F::AvailableRoot, 40, U32),
    f(F::ParentRoot, 44, U32),
    f(F::FirstExtentPages, 48, U32),
    f(F::NewPageFlags, 52, U32),
];
const CREATE_SMALL: &[FieldAt] = &[
    f(F::Object, 32, U32),
    f(F::ParentRoot, 36, U32),
    f(F::FirstExtentPages, 40, U32),
    f(F::NewPageFlags, 44, U32),
];
const CONVERT: &[FieldAt] = &[
    f(F::Object, 32, U32),
    f(F::OwnedRoot, 36, U32),
    f(F::AvailableRoot, 40, U32),
    f(F::ParentRoot, 44, U32),
    f(F::SecondExtentFirst, 48, U32),
    f(F::FirstExtentPages, 52, U32),
    f(F::SecondExtentPages, 56, U32),
];
const CONVERT_MORE: &[FieldAt] = &[f(F::AvailableBits, 60, U32), f(F::NewPageFlags, 64, U32)];
const SPLIT: &[FieldAt] = &[
    f(F::NewPage, 32, U32),
    f(F::RightPage, 36, U32),
    f(F::RightBefore, 40, U64),
    f(F::ParentPage, 48, U32),
    f(F::ParentBefore, 52, U64),
    f(F::Root, 60, U32),
    f(F::Object, 64, U32),
    f(F::SplitKind, 68, U8),
    f(F::SplitOperation, 69, U8),
    f(F::OperationLine, 70, U16),
    f(F::SplitLine, 72, U16),
    f(F::Lines, 74, U16),
    f(F::NewPageFlags, 76, U32),
    f(F::SplitPageFlags, 80, U32),
    f(F::SourceUncommitted, 84, I16),
    f(F::TargetUncommitted, 86, I16),
    f(F::SplitPrefixLine, 88, I32),
    f(F::NewPrefixLine, 92, I32),
    f(F::OldPrefixBytes, 96, U16),
    f(F::NewPrefixBytes, 98, U16),
    f(F::ParentKeyBytes, 100, U16),
];
const SPLIT_IMAGE: &[FieldAt] = &[f(F::ImageFlags, 102, U32), f(F::ImageBytes, 106, U32)];
const SPLIT_PARTS: &[PartOf] =
    &[short(P::ParentKey, 100), short(P::OldPrefix, 96), short(P::NewPrefix, 98)];
const SPLIT2_PARTS: &[PartOf] = &[
    short(P::ParentKey, 100),
    short(P::OldPrefix, 96),
    short(P::NewPrefix, 98),
    long(P::Image, 106),
];
const MERGE: &[FieldAt] = &[
    f(F::RightPage, 32, U32),
    f(F::RightBefore, 36, U64),
    f(F::LeftPage, 44, U32),
    f(F::LeftBefore, 48, U64),
    f(F::ParentPage, 56, U32),
    f(F::ParentBefore, 60, U64),
    f(F::Root, 68, U32),
    f(F::Object, 72, U32),
    f(F::TotalBytes, 76, U16),
    f(F::LargestTotalBytes, 78, U16),
    f(F::TargetUncommitted, 80, U16),
    f(F::MergeLine, 82, U16),
    f(F::MergeFlags, 84, U8),
    f(F::MergeKind, 85, U8),
    f(F::ParentKeyBytes, 86, U16),
];
const MERGE_IMAGE: &[FieldAt] = &[f(F::ImageFlags, 88, U32), f(F::ImageBytes, 92, U32)];
const INSERT: &[FieldAt] =
    &[f(F::KeyBytes, 44, U16), f(F::PrefixBytes, 46, U16), f(F::DataBytes, 48, U16)];
const KEY_DATA: &[FieldAt] = &[f(F::KeyBytes, 44, U16), f(F::DataBytes, 46, U16)];
const REPLACE_VERSION: &[FieldAt] = &[f(F::ReplaceVersion, 48, U32)];
const REPLACE: &[FieldAt] =
    &[f(F::DataBytes, 44, U16), f(F::OldDataBytes, 46, U16), f(F::NewDataBytes, 48, U16)];
const BOOKMARK: &[FieldAt] = &[f(F::KeyBytes, 44, U16), f(F::BookmarkBytes, 46, U16)];
const UNDO_INFO: &[FieldAt] = &[
    f(F::Operation, 48, U16),
    f(F::LargestBytes, 50, I16),
    f(F::DeltaBytes, 52, I16),
    f(F::DataBytes, 54, U16),
];
const DELTA: &[FieldAt] = &[f(F::Delta, 48, I32), f(F::Offset, 52, U16)];
const DELTA64: &[FieldAt] = &[f(F::Delta, 48, I64), f(F::Offset, 56, U16)];
const UNDO: &[FieldAt] = &[f(F::Operation, 48, U16), f(F::ToLevel, 50, U8)];
const MOVE: &[FieldAt] = &[
    f(F::NewPage, 32, U32),
    f(F::LeftPage, 36, U32),
    f(F::RightPage, 40, U32),
    f(F::ParentPage, 44, U32),
    f(F::LeftBefore, 48, U64),
    f(F::RightBefore, 56, U64),
    f(F::ParentBefore, 64, U64),
    f(F::Root, 72, U32),
    f(F::Object, 76, U32),
    f(F::ParentLine, 80, I32),
    f(F::MoveFlags, 84, U32),
    f(F::HeadBytes, 88, U32),
    f(F::TailBytes, 92, U32),
];
const CREATE: &[FieldAt] = &[
    f(F::Session, 1, U16),
    f(F::Database, 3, U8),
    f(F::CreateFlags, 4, U32),
    f(F::MostPages, 8, U32),
    f(F::Signature, 12, Signature),
    f(F::PathBytes, 40, U16),
    f(F::PathFlags, 42, U8),
];
const CREATE_PARTS: &[PartOf] =
    &[PartOf { part: P::FormatVersion, length: Length::If(42, 4, 4) }, short(P::Path, 40)];
const ATTACH: &[FieldAt] = &[
    f(F::Session, 1, U16),
    f(F::Database, 3, U8),
    f(F::MostPages, 4, U32),
    f(F::Consistent, 8, Place),
    f(F::Signature, 16, Signature),
    f(F::LogSignature, 44, Signature),
    f(F::PathBytes, 72, U16),
    f(F::PathFlags, 74, U8),
];
const DETACH: &[FieldAt] = &[
    f(F::Session, 1, U16),
    f(F::Database, 3, U8),
    f(F::PathBytes, 4, U16),
    f(F::PathFlags, 6, U8),
];
const SHRINK: &[FieldAt] = &[f(F::Database, 1, U8), f(F::LastPage, 2, U32), f(F::Pages, 6, U32)];
const FREED: &[FieldAt] =
    &[f(F::Database, 1, U8), f(F::FirstPage, 2, U32), f(F::Pages, 6, U32), f(F::Flags, 10, U8)];
const BODY: &[FieldAt] = &[f(F::BodyBytes, 1, U32)];
const BACKUP: &[FieldAt] = &[
    f(F::BackupPhase, 1, U8),
    f(F::BackupKind, 2, U32),
    f(F::BackupScope, 6, U8),
    f(F::Database, 7, U8),
    f(F::Attached, 8, Place),
    f(F::Time, 16, Time),
    f(F::FirstGeneration, 24, U32),
    f(F::LastGeneration, 28, U32),
    f(F::PathBytes, 33, U16),
];

/// What ends an ignorable record behind `fixed` of its bytes.
const fn rest(fixed: usize) -> PartOf {
    PartOf { part: P::Rest, length: Length::Behind { at: 1, fixed: fixed - 5 } }
}

/// Ordered by type.
pub(super) const TABLE: &[RecordLayout] = &[
    row(0, "NOP", 1, &[], &[]),
    row(1, "Init", 568, &[], &[]),
    row(2, "Term", 18, &[QUIT], &[]),
    row(
        3,
        "MultiSectorFlush",
        9,
        &[&[f(F::ForwardByte, 1, U16), f(F::Checksum, 3, U32), f(F::ForwardSegment, 7, U16)]],
        &[],
    ),
    row(4, "End", 1, &[], &[]),
    row(5, "Begin", 4, &[BEGIN], &[]),
    row(6, "Commit", 4, &[TO_LEVEL], &[]),
    row(7, "Rollback", 4, &[TO_LEVEL], &[]),
    row(8, "Begin0", 8, &[BEGIN, BEGUN4], &[]),
    row(9, "Commit0", 8, &[TO_LEVEL, BEGUN4], &[]),
    row(10, "Refresh", 7, &[SESSION, &[f(F::Begun, 3, U32)]], &[]),
    row(11, "MacroBegin", 11, &[MACRO], &[]),
    row(12, "MacroCommit", 11, &[MACRO], &[]),
    row(13, "MacroAbort", 11, &[MACRO], &[]),
    row(14, "CreateDatabase", 43, &[CREATE], CREATE_PARTS),
    row(15, "AttachDatabase", 75, &[ATTACH], &[short(P::Path, 72)]),
    row(16, "DetachDatabase", 7, &[DETACH], &[short(P::Path, 4)]),
    row(17, "RecoveryUndo", 1, &[], &[]),
    row(18, "RecoveryQuit", 18, &[QUIT], &[]),
    row(19, "FullBackup", 3, &[&[f(F::PathBytes, 1, U16)]], &[short(P::Path, 1)]),
    row(20, "IncrementalBackup", 3, &[&[f(F::PathBytes, 1, U16)]], &[short(P::Path, 1)]),
    row(21, "JetOperation", 4, &[SESSION, &[f(F::Call, 3, U8)]], &[]),
    row(22, "Trace", 5, &[TRACE], &[short(P::Text, 3)]),
    row(23, "ShutDownMark", 1, &[], &[]),
    row(24, "CreateMultipleExtentTree", 56, &[PAGE, CREATE_LARGE], &[]),
    row(25, "CreateSingleExtentTree", 48, &[PAGE, CREATE_SMALL], &[]),
    row(26, "ConvertTreeOld", 60, &[PAGE, CONVERT], &[]),
    row(27, "SplitOld", 102, &[PAGE, SPLIT], SPLIT_PARTS),
    row(28, "MergeOld", 88, &[PAGE, MERGE], &[short(P::ParentKey, 86)]),
    row(
        29,
        "Insert",
        50,
        &[PAGE, NODE, INSERT],
        &[short(P::KeyPrefix, 46), short(P::Key, 44), short(P::Data, 48)],
    ),
    row(30, "FlagInsert", 48, &[PAGE, NODE, KEY_DATA], &[short(P::Key, 44), short(P::Data, 46)]),
    row(
        31,
        "FlagInsertAndReplaceData",
        52,
        &[PAGE, NODE, KEY_DATA, REPLACE_VERSION],
        &[short(P::Key, 44), short(P::Data, 46)],
    ),
    row(32, "FlagDelete", 44, &[PAGE, NODE], &[]),
    row(
        33,
        "Replace",
        50,
        &[PAGE, NODE, REPLACE],
        &[PartOf { part: P::Data, length: Length::U16(44, 0x7FFF) }],
    ),
    row(
        34,
        "ReplaceDifference",
        50,
        &[PAGE, NODE, REPLACE],
        &[PartOf { part: P::Difference, length: Length::U16(44, 0x7FFF) }],
    ),
    row(35, "Delete", 44, &[PAGE, NODE], &[]),
    row(
        36,
        "UndoInformation",
        56,
        &[PAGE, NODE, BOOKMARK, UNDO_INFO],
        &[short(P::Key, 44), short(P::BookmarkData, 46), short(P::Before, 54)],
    ),
    row(
        37,
        "Delta",
        54,
        &[PAGE, NODE, BOOKMARK, DELTA],
        &[short(P::Key, 44), short(P::BookmarkData, 46)],
    ),
    row(
        38,
        "SetExternalHeader",
        46,
        &[PAGE, NODE, &[f(F::DataBytes, 44, U16)]],
        &[short(P::Data, 44)],
    ),
    row(
        39,
        "Undo",
        51,
        &[PAGE, NODE, BOOKMARK, UNDO],
        &[short(P::Key, 44), short(P::BookmarkData, 46)],
    ),
    row(45, "ExternalRestore", 3, &[&[f(F::BodyBytes, 1, U16)]], &[short(P::Text, 1)]),
    row(46, "BackupOld", 5, &[&[f(F::BackupKind, 1, U8)]], &[short(P::Path, 3)]),
    row(
        48,
        "EmptyTree",
        46,
        &[PAGE, NODE, &[f(F::ListBytes, 44, U16)]],
        &[short(P::EmptyPages, 44)],
    ),
    row(49, "Init2", 576, &[&[f(F::Time, 568, Time)]], &[]),
    row(50, "Term2", 26, &[QUIT, QUIT_TIME], &[]),
    row(51, "RecoveryUndo2", 9, &[&[f(F::Time, 1, Time)]], &[]),
    row(52, "RecoveryQuit2", 26, &[QUIT, QUIT_TIME], &[]),
    row(53, "BeginDistributed", 8, &[BEGIN, BEGUN4], &[]),
    row(54, "PrepareCommit", 7, &[SESSION, &[f(F::BodyBytes, 3, U32)]], &[long(P::Rest, 3)]),
    row(55, "PrepareRollback", 3, &[SESSION], &[]),
    row(57, "ForceWriteLog", 3, &[SESSION], &[]),
    row(58, "ConvertTree", 68, &[PAGE, CONVERT, CONVERT_MORE], &[]),
    row(59, "ExternalRestore2", 3, &[&[f(F::BodyBytes, 1, U16)]], &[short(P::Path, 1)]),
    row(60, "Backup2", 35, &[BACKUP], &[short(P::Path, 33)]),
    row(61, "ForceLogRollover", 5, &[TRACE], &[short(P::Text, 3)]),
    row(62, "Split", 110, &[PAGE, SPLIT, SPLIT_IMAGE], SPLIT2_PARTS),
    row(
        63,
        "Merge",
        96,
        &[PAGE, MERGE, MERGE_IMAGE],
        &[short(P::ParentKey, 86), long(P::Image, 92)],
    ),
    row(
        64,
        "Scrub",
        54,
        &[
            PAGE,
            NODE,
            &[f(F::ScrubFlags, 44, U32), f(F::Scrubbed, 48, U32), f(F::BodyBytes, 52, U16)],
        ],
        &[short(P::Rest, 52)],
    ),
    row(65, "PageMove", 96, &[PAGE, MOVE], &[long(P::Head, 88), long(P::Tail, 92)]),
    row(
        66,
        "PagePatchRequest",
        46,
        &[&[f(F::Database, 1, U8), f(F::Page, 2, U32), f(F::Dbtime, 6, U64)]],
        &[],
    ),
    ignorable(67, "MacroInfo", 5, &[BODY], &[rest(5)]),
    ignorable(
        68,
        "ExtendDatabase",
        10,
        &[BODY, &[f(F::Database, 5, U8), f(F::LastPage, 6, U32)]],
        &[rest(10)],
    ),
    ignorable(69, "CommitContext", 7, &[BODY, &[f(F::Session, 5, U16)]], &[rest(7)]),
    ignorable(
        70,
        "ScanCheck",
        44,
        &[
            BODY,
            &[
                f(F::Database, 5, U8),
                f(F::Page, 6, U32),
                f(F::DbtimeBefore, 26, U64),
                f(F::DatabaseTime, 34, U64),
                f(F::PageChecksum, 42, U16),
            ],
        ],
        &[rest(44)],
    ),
    ignorable(71, "NOP2", 5, &[BODY], &[rest(5)]),
    ignorable(
        72,
        "ReAttach",
        50,
        &[
            BODY,
            &[
                f(F::Database, 5, U8),
                f(F::Attached, 6, Place),
                f(F::Consistent, 14, Place),
                f(F::Signature, 22, Signature),
            ],
        ],
        &[rest(50)],
    ),
    ignorable(
        73,
        "MacroInfo2",
        10,
        &[BODY, &[f(F::Database, 5, U8), f(F::Pages, 6, U32)]],
        &[PartOf { part: P::PageList, length: Length::Behind { at: 1, fixed: 5 } }],
    ),
    ignorable(
        74,
        "FreeTree",
        15,
        &[
            BODY,
            &[
                f(F::Database, 5, U8),
                f(F::Root, 6, U32),
                f(F::Begun, 10, U32),
                f(F::TreeKind, 14, U8),
            ],
        ],
        &[rest(15)],
    ),
    ignorable(75, "Ignorable9", 5, &[BODY], &[rest(5)]),
    row(78, "ShrinkDatabase", 10, &[SHRINK], &[]),
    row(79, "CreateDatabaseFinish", 4, &[SESSION, &[f(F::Database, 3, U8)]], &[]),
    row(80, "RecoveryQuitKeepAttachments", 26, &[QUIT, QUIT_TIME], &[]),
    row(
        81,
        "TrimDatabase",
        10,
        &[&[f(F::Database, 1, U8), f(F::FirstPage, 2, U32), f(F::Pages, 6, U32)]],
        &[],
    ),
    ignorable(82, "Ignorable10", 5, &[BODY], &[rest(5)]),
    ignorable(83, "Ignorable11", 5, &[BODY], &[rest(5)]),
    ignorable(84, "Ignorable12", 5, &[BODY], &[rest(5)]),
    ignorable(85, "Ignorable13", 5, &[BODY], &[rest(5)]),
    ignorable(86, "Ignorable14", 5, &[BODY], &[rest(5)]),
    ignorable(87, "Ignorable15", 5, &[BODY], &[rest(5)]),
    ignorable(88, "Ignorable16", 5, &[BODY], &[rest(5)]),
    ignorable(89, "Ignorable17", 5, &[BODY], &[rest(5)]),
    ignorable(90, "Ignorable18", 5, &[BODY], &[rest(5)]),
    ignorable(91, "Ignorable19", 5, &[BODY], &[rest(5)]),
    row(
        92,
        "SetDatabaseVersion",
        14,
        &[&[
            f(F::Database, 1, U8),
            f(F::FormatVersion, 2, U32),
            f(F::FormatUpdate, 6, U32),
            f(F::FormatUpdateMinor, 10, U32),
        ]],
        &[],
    ),
    row(
        93,
        "Delta64",
        58,
        &[PAGE, NODE, BOOKMARK, DELTA64],
        &[short(P::Key, 44), short(P::BookmarkData, 46)],
    ),
    row(94, "ShrinkDatabase2", 10, &[SHRINK], &[]),
    row(
        95,
        "NewPage",
        20,
        &[&[
            f(F::Session, 1, U16),
            f(F::Database, 3, U8),
            f(F::Page, 4, U32),
            f(F::Object, 8, U32),
            f(F::Dbtime, 12, U64),
        ]],
        &[],
    ),
    row(
        96,
        "RootPageMove",
        16,
        &[&[
            f(F::Dbtime, 1, U64),
            f(F::Database, 9, U8),
            f(F::Object, 10, U32),
            f(F::Session, 14, U16),
        ]],
        &[],
    ),
    row(97, "SignalAttachDatabase", 2, &[&[f(F::Database, 1, U8)]], &[]),
    row(
        98,
        "ScanCheck2",
        27,
        &[&[
            f(F::Database, 1, U8),
            f(F::Page, 2, U32),
            f(F::ScanFlags, 6, U8),
            f(F::DbtimeBefore, 7, U64),
            f(F::DatabaseTime, 15, U64),
            f(F::PageChecksum, 23, U32),
        ]],
        &[],
    ),
    row(99, "ShrinkDatabase3", 18, &[SHRINK, &[f(F::Dbtime, 10, U64)]], &[]),
    row(100, "ExtentFreed", 11, &[FREED], &[]),
    row(101, "ExtentFreed2", 19, &[FREED, &[f(F::Dbtime, 11, U64)]], &[]),
];
